package db

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// courtesy has a job rest as long as it worked while requests come, so that
// they have half of the machine at least, on one core too. Where nobody asks
// for anything it does not rest.
type courtesy struct {
	asked *atomic.Uint64 // requests that came

	mu    sync.Mutex // held during a rest, so that all who do the job rest
	since time.Time  // when the last rest ended
	seen  uint64     // of asked, when it began
}

const (
	shortestWork = 2 * time.Millisecond // without a rest
	longestRest  = 250 * time.Millisecond
)

type courtesyKey struct{}

// Heed tells that a request came, which jobs give way to.
func (s *DB) Heed() { s.asked.Add(1) }

// Courteous has what is done under the returned context give way.
func (s *DB) Courteous(ctx context.Context) context.Context {
	return context.WithValue(ctx, courtesyKey{}, &courtesy{asked: &s.asked, since: time.Now(), seen: s.asked.Load()})
}

type asideKey struct{}

// Aside has what is read and written under the returned context take a
// connection that requests have not: whatever it waits for, they are answered.
// There is one. So a write reads nothing beside its transaction, and of what is
// done at once one thing is done aside.
func Aside(ctx context.Context) context.Context { return context.WithValue(ctx, asideKey{}, true) }

func isAside(ctx context.Context) bool { return ctx.Value(asideKey{}) != nil }

// GiveWay rests if it is time to. It must not be called within a write, which
// others wait for.
func GiveWay(ctx context.Context) {
	c, ok := ctx.Value(courtesyKey{}).(*courtesy)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := c.due(time.Now(), c.asked.Load())
	if rest == 0 {
		return
	}
	over := time.NewTimer(rest)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
	c.since = time.Now()
}

// due is how long to rest, given how many requests came so far. Those that came
// during a rest count for the next: while a job has the only core, nothing of
// a request is seen.
func (c *courtesy) due(now time.Time, asked uint64) time.Duration {
	worked := now.Sub(c.since)
	if worked < shortestWork {
		return 0
	}
	if asked == c.seen {
		c.since = now
		return 0
	}
	c.seen = asked
	return min(worked, longestRest)
}
