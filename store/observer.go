package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Observer is told what is done under a context, for those who run the server:
// by the log of slow requests, and by traces. It is told no value of anything.
type Observer interface {
	// Begin is told of a step that begins. What is done under the context that
	// it returns is part of the step; end is called with what came of it.
	Begin(ctx context.Context, step string) (within context.Context, end func(error))

	// Statement is told of a statement that has ended, by its text without its
	// arguments, and of how many rows it wrote or read.
	Statement(ctx context.Context, query string, began time.Time, rows int64, err error)
}

// The steps, beside those that a surface names.
const (
	StepWrite = "write"  // of a transaction, with the wait for its turn and its commit
	StepJob   = "job "   // before the kind of the job
	StepSweep = "sweep " // before the name of the sweep
)

type observerKey struct{}

// ObserverKey is what a context that holds an observer itself is asked for.
var ObserverKey any = observerKey{}

// WithObserver has an observer be told of what is done under a context.
func WithObserver(ctx context.Context, o Observer) context.Context {
	return context.WithValue(ctx, ObserverKey, o)
}

// ObserverOf is who is told of what is done under a context; nil for nobody.
func ObserverOf(ctx context.Context) Observer {
	o, _ := ctx.Value(ObserverKey).(Observer)
	return o
}

// Begin tells the observer of a context, if there is one, of a step.
func Begin(ctx context.Context, step string) (within context.Context, end func(error)) {
	if o := ObserverOf(ctx); o != nil {
		return o.Begin(ctx, step)
	}
	return ctx, untold
}

func untold(error) {}

// Effort is an observer that counts what a request asks of the database.
type Effort struct {
	statements, spent atomic.Int64
}

// Statements is how many statements were run.
func (e *Effort) Statements() int { return int(e.statements.Load()) }

// Spent is the time that reads and writes took, waits included; those at the
// same time are added up.
func (e *Effort) Spent() time.Duration { return time.Duration(e.spent.Load()) }

// Begin implements Observer.
func (e *Effort) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	if step != StepWrite {
		return ctx, untold
	}
	began := time.Now()
	return WithObserver(ctx, within{e}), func(error) { e.spent.Add(int64(time.Since(began))) }
}

// Statement implements Observer.
func (e *Effort) Statement(_ context.Context, _ string, began time.Time, _ int64, _ error) {
	e.statements.Add(1)
	e.spent.Add(int64(time.Since(began)))
}

// within is the effort of a write, whose time is counted as a whole.
type within struct{ *Effort }

// Statement implements Observer.
func (w within) Statement(context.Context, string, time.Time, int64, error) { w.statements.Add(1) }

// Counter counts the SQL statements of one operation.
type Counter struct {
	n       atomic.Int64
	mu      sync.Mutex
	queries []string
}

// Count is how many statements have run.
func (c *Counter) Count() int { return int(c.n.Load()) }

// Queries lists the texts of the statements, in order.
func (c *Counter) Queries() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.queries...)
}

type counterKey struct{}

// CountStatements makes every SQL statement run under the returned context
// count.
func CountStatements(ctx context.Context) (context.Context, *Counter) {
	c := &Counter{}
	return context.WithValue(ctx, counterKey{}, c), c
}

// CountStatement counts a statement that runs.
func CountStatement(ctx context.Context, query string) {
	if c, ok := ctx.Value(counterKey{}).(*Counter); ok {
		c.n.Add(1)
		c.mu.Lock()
		c.queries = append(c.queries, query)
		c.mu.Unlock()
	}
}
