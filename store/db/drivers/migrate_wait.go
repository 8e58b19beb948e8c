package drivers

import (
	"context"
	"log/slog"
	"time"
)

// When a wait for another process's migration is logged first, and how often again.
const (
	firstWaitLog = 3 * time.Second
	nextWaitLog  = 30 * time.Second
)

// holderTimeout is how long it may take to find out who holds the lock.
const holderTimeout = 3 * time.Second

// logWait logs that this process waits for another one's migration, until stop.
// holder describes that process.
func logWait(log *slog.Logger, holder func(context.Context) string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		begun := time.Now()
		for wait := firstWaitLog; ; wait = nextWaitLog {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			asking, enough := context.WithTimeout(ctx, holderTimeout)
			log.Warn("waiting for another process to migrate the database", "for", time.Since(begun).Round(time.Second).String(), "holder", holder(asking))
			enough()
		}
	}()
	return func() { cancel(); <-done }
}
