package db

import (
	"context"
	"log/slog"
	"time"
)

// When a wait for the migration of another process is told of, and how often
// again.
var (
	waitTold  = 3 * time.Second
	waitAgain = 30 * time.Second
)

// tellWait has the log tell that this process waits for another one's
// migration, until stop. holder says who that is, as far as it is known.
func tellWait(log *slog.Logger, holder func(context.Context) string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		begun := time.Now()
		for wait := waitTold; ; wait = waitAgain {
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
			asking, enough := context.WithTimeout(ctx, waitTold)
			log.Warn("waits for another process to migrate the database", "for", time.Since(begun).Round(time.Second).String(), "holder", holder(asking))
			enough()
		}
	}()
	return func() { cancel(); <-done }
}
