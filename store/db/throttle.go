package db

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// throttle makes a job pause while requests wait for a processor. A job of an idle server, or of one
// with a processor to spare, does not pause. A job that makes requests wait gets at least a fifth
// of its time.
type throttle struct {
	requests *atomic.Uint64 // requests so far
	probe    *delayProbe

	mu           sync.Mutex // held during a pause, so that all goroutines of the job pause
	resumed      time.Time  // end of the last pause
	lastRequests uint64     // at the end of the last work
	backoff      float64    // length of a pause, in times of the work before it
}

const (
	minWork    = 2 * time.Millisecond // least work between two pauses
	maxPause   = 250 * time.Millisecond
	minBackoff = 0.25 // shorter pauses are none
	maxBackoff = 4
)

type throttleKey struct{}

// WithThrottle returns a context under which Throttle pauses while requests wait.
func (s *DB) WithThrottle(ctx context.Context) context.Context {
	s.delays.send(time.Now())
	return context.WithValue(ctx, throttleKey{}, &throttle{requests: &s.requests, probe: &s.delays, resumed: time.Now(), lastRequests: s.requests.Load()})
}

// Throttle pauses if a pause is due. Do not call it within a write: other writes
// would wait.
func Throttle(ctx context.Context) {
	c, ok := ctx.Value(throttleKey{}).(*throttle)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	now, before := time.Now(), c.resumed
	rest := c.pause(now, c.requests.Load(), c.probe.delay(now))
	if rest > 0 {
		over := time.NewTimer(rest)
		defer over.Stop()
		select {
		case <-over.C:
		case <-ctx.Done():
		}
		c.resumed = time.Now()
	}
	if c.resumed != before { // else the last probe covers the work so far
		c.probe.send(time.Now())
	}
}

// pause returns how long to pause. delay is how long a request waited for a processor during the work.
// Requests that arrived during a pause count for the next one, because on one core a request makes
// no progress while the job runs.
func (c *throttle) pause(now time.Time, requests uint64, delay time.Duration) time.Duration {
	worked := now.Sub(c.resumed)
	if worked < minWork {
		return 0
	}
	switch {
	case requests == c.lastRequests:
		c.backoff = 0
	case delay >= slowDelay:
		c.backoff = min(max(1, 2*c.backoff), maxBackoff)
	case delay < slowDelay/2:
		if c.backoff /= 2; c.backoff < minBackoff {
			c.backoff = 0
		}
	}
	c.lastRequests = requests
	if c.backoff == 0 {
		c.resumed = now
		return 0
	}
	return min(time.Duration(float64(worked)*c.backoff), maxPause)
}
