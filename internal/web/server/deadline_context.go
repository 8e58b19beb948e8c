package server

import (
	"context"
	"sync"
	"time"
)

// deadlineContext is a context that ends some time after it began. It has a timer only
// once somebody waits for its end, as statements do: most of what is hot is
// answered before anyone does.
type deadlineContext struct {
	context.Context // of the connection
	deadline        time.Time

	mu        sync.Mutex
	ctx       context.Context // that somebody waits for; nil until then
	cancel    context.CancelCauseFunc
	timer     *time.Timer
	unbounded bool // there is no end any more, but that of the connection
}

// Done implements context.Context.
func (t *deadlineContext) Done() <-chan struct{} { return t.start().Done() }

// start begins to wait for the end.
func (t *deadlineContext) start() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil {
		t.ctx, t.cancel = context.WithCancelCause(t.Context)
		if !t.unbounded {
			end := t.cancel
			t.timer = time.AfterFunc(time.Until(t.deadline), func() { end(errRequestTimeout) })
		}
	}
	return t.ctx
}

// Err implements context.Context.
func (t *deadlineContext) Err() error {
	t.mu.Lock()
	waited, over := t.ctx, !t.unbounded && !time.Now().Before(t.deadline)
	t.mu.Unlock()
	switch {
	case waited != nil:
		return waited.Err()
	case over:
		ended := t.start()
		t.cancel(errRequestTimeout)
		return ended.Err()
	}
	return t.Context.Err()
}

// Value implements context.Context; by it the package context finds what to
// end with this one.
func (t *deadlineContext) Value(key any) any {
	t.mu.Lock()
	waited := t.ctx
	t.mu.Unlock()
	if waited != nil {
		return waited.Value(key)
	}
	return t.Context.Value(key)
}

// removeDeadline takes the end away.
func (t *deadlineContext) removeDeadline() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unbounded = true
	if t.timer != nil {
		t.timer.Stop()
	}
}

// close ends the context for those who still wait, after the answer.
func (t *deadlineContext) close() {
	t.removeDeadline()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel(nil)
	}
}
