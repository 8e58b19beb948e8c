package web

import (
	"context"
	"sync"
	"time"
)

// timed is a context that ends some time after it began. It has a timer only
// once somebody waits for its end, as statements do: most of what is hot is
// answered before anyone does.
type timed struct {
	context.Context // of the connection
	ends            time.Time

	mu     sync.Mutex
	waited context.Context // that somebody waits for; nil until then
	end    context.CancelCauseFunc
	timer  *time.Timer
	lifted bool // there is no end any more, but that of the connection
}

// Done implements context.Context.
func (t *timed) Done() <-chan struct{} { return t.wait().Done() }

// wait begins to wait for the end.
func (t *timed) wait() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.waited == nil {
		t.waited, t.end = context.WithCancelCause(t.Context)
		if !t.lifted {
			end := t.end
			t.timer = time.AfterFunc(time.Until(t.ends), func() { end(errTooLong) })
		}
	}
	return t.waited
}

// Err implements context.Context.
func (t *timed) Err() error {
	t.mu.Lock()
	waited, over := t.waited, !t.lifted && !time.Now().Before(t.ends)
	t.mu.Unlock()
	switch {
	case waited != nil:
		return waited.Err()
	case over:
		ended := t.wait()
		t.end(errTooLong)
		return ended.Err()
	}
	return t.Context.Err()
}

// Value implements context.Context; by it the package context finds what to
// end with this one.
func (t *timed) Value(key any) any {
	t.mu.Lock()
	waited := t.waited
	t.mu.Unlock()
	if waited != nil {
		return waited.Value(key)
	}
	return t.Context.Value(key)
}

// lift takes the end away.
func (t *timed) lift() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lifted = true
	if t.timer != nil {
		t.timer.Stop()
	}
}

// close ends the context for those who still wait, after the answer.
func (t *timed) close() {
	t.lift()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.end != nil {
		t.end(nil)
	}
}
