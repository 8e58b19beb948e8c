package db

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// throttle makes a job pause as long as it worked while requests arrive, so that
// requests get at least half of a single core. An idle server's jobs do not pause.
type throttle struct {
	requests *atomic.Uint64 // requests so far

	mu           sync.Mutex // held during a pause, so that all goroutines of the job pause
	resumed      time.Time  // end of the last pause
	lastRequests uint64     // asked at the start of the last pause
}

const (
	minWork  = 2 * time.Millisecond // least work between two pauses
	maxPause = 250 * time.Millisecond
)

type throttleKey struct{}

type backgroundPoolKey struct{}

// WithBackgroundPool returns a context whose reads and writes use the background connection, so
// that they never delay requests. There is one such connection: within a write, read
// only through its transaction, and run one job at a time.
func WithBackgroundPool(ctx context.Context) context.Context {
	return context.WithValue(ctx, backgroundPoolKey{}, true)
}

func usesBackgroundPool(ctx context.Context) bool { return ctx.Value(backgroundPoolKey{}) != nil }

// Throttle pauses if a pause is due. Do not call it within a write: other writes
// would wait.
func Throttle(ctx context.Context) {
	c, ok := ctx.Value(throttleKey{}).(*throttle)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := c.pause(time.Now(), c.requests.Load())
	if rest == 0 {
		return
	}
	over := time.NewTimer(rest)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
	c.resumed = time.Now()
}

// pause returns how long to pause. Requests that arrived during a pause count for the
// next one, because on one core a request makes no progress while the job runs.
func (c *throttle) pause(now time.Time, asked uint64) time.Duration {
	worked := now.Sub(c.resumed)
	if worked < minWork {
		return 0
	}
	if asked == c.lastRequests {
		c.resumed = now
		return 0
	}
	c.lastRequests = asked
	return min(worked, maxPause)
}
