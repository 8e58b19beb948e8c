package store

import (
	"context"
	"sync"
	"sync/atomic"
)

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
