package server

import (
	"context"
	"errors"
	"sync"
	"time"
)

// errRequestTimeout is the cause of the end of a request's context after Limits.RequestTime.
var errRequestTimeout = errors.New("the request took too long")

// deadlineContext is a context with a deadline. It starts a timer only when Done is first called, as
// database statements do: most frequent requests never call it.
type deadlineContext struct {
	context.Context // of the connection
	deadline        time.Time

	mu        sync.Mutex
	ctx       context.Context // nil until Done is called
	cancel    context.CancelCauseFunc
	timer     *time.Timer
	unbounded bool // the deadline was removed
}

// Done implements context.Context.
func (t *deadlineContext) Done() <-chan struct{} { return t.start().Done() }

// start starts the timer.
func (t *deadlineContext) start() context.Context {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx == nil {
		t.ctx, t.cancel = context.WithCancelCause(t.Context)
		if !t.unbounded {
			cancel := t.cancel
			t.timer = time.AfterFunc(time.Until(t.deadline), func() { cancel(errRequestTimeout) })
		}
	}
	return t.ctx
}

// Err implements context.Context.
func (t *deadlineContext) Err() error {
	t.mu.Lock()
	started, over := t.ctx, !t.unbounded && !time.Now().Before(t.deadline)
	t.mu.Unlock()
	switch {
	case started != nil:
		return started.Err()
	case over:
		ctx := t.start()
		t.cancel(errRequestTimeout)
		return ctx.Err()
	}
	return t.Context.Err()
}

// Value implements context.Context. The context package uses it to find the parent to attach to.
func (t *deadlineContext) Value(key any) any {
	t.mu.Lock()
	started := t.ctx
	t.mu.Unlock()
	if started != nil {
		return started.Value(key)
	}
	return t.Context.Value(key)
}

// removeDeadline leaves only the end of the connection.
func (t *deadlineContext) removeDeadline() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unbounded = true
	if t.timer != nil {
		t.timer.Stop()
	}
}

// close cancels the context after the response.
func (t *deadlineContext) close() {
	t.removeDeadline()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel(nil)
	}
}
