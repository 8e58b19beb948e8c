package db

import (
	"context"
	"runtime"
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

	yieldAt atomic.Int64  // when the next yield is due, in nanoseconds
	yielded atomic.Int64  // time of yields since Throttle counted it, in nanoseconds
	seen    atomic.Uint64 // requests at the last yield that was due
	asked   atomic.Int64  // when a yield last saw new requests, in nanoseconds
}

const (
	minWork    = 2 * time.Millisecond // least work between two pauses
	maxPause   = 250 * time.Millisecond
	minBackoff = 0.25 // shorter pauses are none
	maxBackoff = 4

	workSlice = time.Millisecond / 2  // of work between two yields
	yieldTime = 20 * time.Microsecond // least time of a yield
	askedTime = time.Second           // after the last request, in which a job yields
)

type throttleKey struct{}

// Throttle pauses if a pause is due. Do not call it within a write: other writes
// would wait.
func Throttle(ctx context.Context) {
	c := throttleOf(ctx)
	if c == nil {
		return
	}
	c.yield()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.resumed = c.resumed.Add(time.Duration(c.yielded.Swap(0)))
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

// throttleOf returns the throttle of a job; nil for none, which never yields.
func throttleOf(ctx context.Context) *throttle {
	c, _ := ctx.Value(throttleKey{}).(*throttle)
	return c
}

// yield lets requests run twice in a millisecond. Where there is one core, the runtime interrupts a goroutine that
// never waits after ten milliseconds only, and looks for bytes that arrived on connections when nothing else can
// run. So a yield begins with a short sleep. The runtime runs a goroutine whose sleep ends before all that wait, so
// that one request would run for each yield. Gosched puts the job behind those whose bytes had arrived. A yield is not
// as long as a pause, and may be within a write.
func (c *throttle) yield() {
	if c == nil {
		return
	}
	now := time.Now()
	if !c.due(now) {
		return
	}
	time.Sleep(yieldTime)
	runtime.Gosched()
	slept := time.Since(now)
	c.yielded.Add(int64(slept))
	c.yieldAt.Store(now.Add(slept + workSlice).UnixNano())
}

// due reports whether a job that works at a time shall yield: workSlice after it did, while there are requests.
func (c *throttle) due(now time.Time) bool {
	if now.UnixNano() < c.yieldAt.Load() {
		return false
	}
	c.yieldAt.Store(now.Add(workSlice).UnixNano())
	if requests := c.requests.Load(); c.seen.Swap(requests) != requests {
		c.asked.Store(now.UnixNano())
	}
	return now.UnixNano()-c.asked.Load() < int64(askedTime)
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
