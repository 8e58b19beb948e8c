package store

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Observer is notified of work under a context, for the slow-request log and traces. It
// never sees argument values.
type Observer interface {
	// Begin starts a step. Work under the returned context belongs to the step; end takes
	// its error.
	Begin(ctx context.Context, step string) (within context.Context, end func(error))

	// Statement reports a finished statement, by its text without arguments, and the
	// number of rows that it wrote or read.
	Statement(ctx context.Context, query string, began time.Time, rows int64, err error)
}

// The steps. Others are named where they begin.
const (
	StepWrite = "write"  // a transaction, from queueing to commit
	StepJob   = "job "   // followed by the kind of the job
	StepSweep = "sweep " // followed by the name of the sweep
)

type observerKey struct{}

// ObserverKey is the context key of the Observer, exported as AllowanceKey is.
var ObserverKey any = observerKey{}

// WithObserver returns a context that notifies o.
func WithObserver(ctx context.Context, o Observer) context.Context {
	return context.WithValue(ctx, ObserverKey, o)
}

// ObserverOf returns the context's Observer, or nil.
func ObserverOf(ctx context.Context) Observer {
	o, _ := ctx.Value(ObserverKey).(Observer)
	return o
}

// StartStep starts a step of the context's Observer, if any.
func StartStep(ctx context.Context, step string) (within context.Context, end func(error)) {
	if o := ObserverOf(ctx); o != nil {
		return o.Begin(ctx, step)
	}
	return ctx, noEnd
}

func noEnd(error) {}

// QueryStats is an Observer that adds up the database work of a request. A write counts from its queueing to its commit.
type QueryStats struct {
	statements, duration atomic.Int64
}

// Statements is the number of statements.
func (q *QueryStats) Statements() int { return int(q.statements.Load()) }

// Duration is the total time of reads and writes, including waits. Concurrent ones add up.
func (q *QueryStats) Duration() time.Duration { return time.Duration(q.duration.Load()) }

// Begin implements Observer.
func (q *QueryStats) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	if step != StepWrite {
		return ctx, noEnd
	}
	began := time.Now()
	return WithObserver(ctx, writeStats{q}), func(error) { q.duration.Add(int64(time.Since(began))) }
}

// Statement implements Observer.
func (q *QueryStats) Statement(_ context.Context, _ string, began time.Time, _ int64, _ error) {
	q.statements.Add(1)
	q.duration.Add(int64(time.Since(began)))
}

// writeStats is the QueryStats inside a write, whose time is counted as a whole.
type writeStats struct{ *QueryStats }

// Statement implements Observer.
func (w writeStats) Statement(context.Context, string, time.Time, int64, error) { w.statements.Add(1) }

// StatementCounter counts the SQL statements of one operation.
type StatementCounter struct {
	n       atomic.Int64
	mu      sync.Mutex
	queries []string
}

// Count is the number of statements.
func (c *StatementCounter) Count() int { return int(c.n.Load()) }

// Queries lists the statements in order.
func (c *StatementCounter) Queries() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string{}, c.queries...)
}

type counterKey struct{}

// CountStatements returns a context that counts the SQL statements run under it.
func CountStatements(ctx context.Context) (context.Context, *StatementCounter) {
	c := &StatementCounter{}
	return context.WithValue(ctx, counterKey{}, c), c
}

// CountStatement counts a statement.
func CountStatement(ctx context.Context, query string) {
	if c, ok := ctx.Value(counterKey{}).(*StatementCounter); ok {
		c.n.Add(1)
		c.mu.Lock()
		c.queries = append(c.queries, query)
		c.mu.Unlock()
	}
}
