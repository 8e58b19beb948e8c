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
	seen    atomic.Uint64 // requests when due last looked
	asked   atomic.Int64  // when due last saw new requests, in nanoseconds
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
	t := throttleOf(ctx)
	if t == nil {
		return
	}
	t.yield()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.resumed = t.resumed.Add(time.Duration(t.yielded.Swap(0)))
	now, before := time.Now(), t.resumed
	rest := t.pause(now, t.requests.Load(), t.probe.delay(now))
	if rest > 0 {
		over := time.NewTimer(rest)
		defer over.Stop()
		select {
		case <-over.C:
		case <-ctx.Done():
		}
		t.resumed = time.Now()
	}
	if t.resumed != before { // a pause ended or was not needed: measure during the next work
		t.probe.send(time.Now())
	}
}

// throttleOf returns the throttle of a job; nil for none, which never yields.
func throttleOf(ctx context.Context) *throttle {
	t, _ := ctx.Value(throttleKey{}).(*throttle)
	return t
}

// yield lets requests run twice in a millisecond. Where there is one core, the runtime interrupts a goroutine that
// never waits after ten milliseconds only, and looks for bytes that arrived on connections when nothing else can
// run. So a yield begins with a short sleep. The runtime runs a goroutine whose sleep ends before all that wait, so
// that one request would run for each yield. Gosched puts the job behind those whose bytes had arrived. A yield is not
// as long as a pause, and may be within a write.
func (t *throttle) yield() {
	if t == nil {
		return
	}
	now := time.Now()
	if !t.due(now) {
		return
	}
	time.Sleep(yieldTime)
	runtime.Gosched()
	slept := time.Since(now)
	t.yielded.Add(int64(slept))
	t.yieldAt.Store(now.Add(slept + workSlice).UnixNano())
}

// due reports whether a job that works at a time shall yield: workSlice after it did, and at most askedTime after the last
// request. It sets when to ask again.
func (t *throttle) due(now time.Time) bool {
	if now.UnixNano() < t.yieldAt.Load() {
		return false
	}
	t.yieldAt.Store(now.Add(workSlice).UnixNano())
	if requests := t.requests.Load(); t.seen.Swap(requests) != requests {
		t.asked.Store(now.UnixNano())
	}
	return now.UnixNano()-t.asked.Load() < int64(askedTime)
}

// pause returns how long to pause after the work since resumed, and sets backoff and lastRequests. If that is 0 after
// minWork, the work begins anew: resumed is now. delay is how long a request waited for a processor during the work.
// Requests that arrived during a pause count for the next one, because on one core a request makes
// no progress while the job runs.
func (t *throttle) pause(now time.Time, requests uint64, delay time.Duration) time.Duration {
	worked := now.Sub(t.resumed)
	if worked < minWork {
		return 0
	}
	switch {
	case requests == t.lastRequests:
		t.backoff = 0
	case delay >= slowDelay:
		t.backoff = min(max(1, 2*t.backoff), maxBackoff)
	case delay < slowDelay/2:
		if t.backoff /= 2; t.backoff < minBackoff {
			t.backoff = 0
		}
	}
	t.lastRequests = requests
	if t.backoff == 0 {
		t.resumed = now
		return 0
	}
	return min(time.Duration(float64(worked)*t.backoff), maxPause)
}
