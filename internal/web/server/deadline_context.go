package server

import (
	"context"
	"errors"
	"sync"
	"time"
)

// deadlineContext is a context with a deadline. Without one, slow work would go on for clients that have
// given up (TestRequestContextEnds). It starts a timer only when Done is first called, as database statements do:
// most frequent requests never call it. For these, context.WithTimeoutCause takes 0.5 µs and three
// allocations more (2026-11-28), of about 15 of a request (TestCachedRequestAllocations), and streams could not remove its deadline.
type deadlineContext struct {
	context.Context // of the connection
	deadline        time.Time

	mu        sync.Mutex
	ctx       context.Context // nil until Done is called
	cancel    context.CancelCauseFunc
	timer     *time.Timer
	unbounded bool // the deadline was removed
}

// errRequestTimeout is the cause of the end of a request's context after Limits.RequestTime.
var errRequestTimeout = errors.New("the request took too long")

// Done implements context.Context.
func (c *deadlineContext) Done() <-chan struct{} { return c.start().Done() }

// start starts the timer, unless it has run before or the deadline was removed, and returns the context of Done.
func (c *deadlineContext) start() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx == nil {
		c.ctx, c.cancel = context.WithCancelCause(c.Context)
		if !c.unbounded {
			cancel := c.cancel
			c.timer = time.AfterFunc(time.Until(c.deadline), func() { cancel(errRequestTimeout) })
		}
	}
	return c.ctx
}

// Err implements context.Context.
func (c *deadlineContext) Err() error {
	c.mu.Lock()
	started, over := c.ctx, !c.unbounded && !time.Now().Before(c.deadline)
	c.mu.Unlock()
	switch {
	case started != nil:
		return started.Err()
	case over:
		ctx := c.start()
		c.cancel(errRequestTimeout)
		return ctx.Err()
	}
	return c.Context.Err()
}

// Value implements context.Context. The context package uses it to find the parent to attach to.
func (c *deadlineContext) Value(key any) any {
	c.mu.Lock()
	started := c.ctx
	c.mu.Unlock()
	if started != nil {
		return started.Value(key)
	}
	return c.Context.Value(key)
}

// removeDeadline leaves only the end of the connection to end the context.
func (c *deadlineContext) removeDeadline() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unbounded = true
	if c.timer != nil {
		c.timer.Stop()
	}
}

// close cancels the context after the response.
func (c *deadlineContext) close() {
	c.removeDeadline()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancel != nil {
		c.cancel(nil)
	}
}
