package model

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"portico/graph/plan"
)

// Group is the rows that one list, or one edge of a list, brought into the
// answer side by side. What one of them asks for, its siblings will too: the
// first to follow an edge has a dataloader fetch it for all of them in one
// batch, at once, because the batch is full by then. So the number of SQL
// statements depends on the shape of a query and not on the size of its
// pages, and no timer decides what goes into a batch.
//
// A group lives as long as its answer. It belongs to one operation, and so to
// one user.
type Group[T any] struct {
	members []T
	keys    []string // of members, distinct
	mu      sync.Mutex
	loaders map[string]any // by edge: dataloaders, or columns
}

// NewGroup puts rows side by side; key tells them apart.
func NewGroup[T any](members []T, key func(T) string) *Group[T] {
	g := &Group[T]{loaders: map[string]any{}}
	seen := make(map[string]bool, len(members))
	for _, member := range members {
		if k := key(member); !seen[k] {
			seen[k] = true
			g.keys, g.members = append(g.keys, k), append(g.members, member)
		}
	}
	return g
}

// errMissing says that a batch left a row out; Load answers the zero value.
var errMissing = errors.New("missing")

// Load follows an edge from the member with that key. batch gets all members
// and returns what each has, by key; one that is left out has nothing. A
// client that has gone is followed no further.
func Load[T, V any](ctx context.Context, g *Group[T], edge, key string, batch func(context.Context, []T) (map[string]V, error)) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if plan.IsSerial(ctx) {
		return columnOf(ctx, g, edge, batch).of(key)
	}
	value, err := loader(ctx, g, edge, batch).Load(ctx, key)()
	if errors.Is(err, errMissing) {
		return none, nil
	}
	return value, err
}

// column is what all members of a group have at an edge.
type column[V any] struct {
	found map[string]V
	err   error
}

func (c *column[V]) of(key string) (V, error) { return c.found[key], c.err }

// columnOf fetches an edge for all members when the first one follows it, on
// the one goroutine that there is.
func columnOf[T, V any](ctx context.Context, g *Group[T], edge string, batch func(context.Context, []T) (map[string]V, error)) *column[V] {
	if fetched, ok := g.loaders[edge].(*column[V]); ok {
		return fetched
	}
	fetched := &column[V]{}
	fetched.found, fetched.err = batch(ctx, g.members)
	g.loaders[edge] = fetched
	return fetched
}

// guarded turns a panic of a batch, which runs on a goroutine of its own, into
// an error for everyone who waits for it.
func guarded[T, V any](ctx context.Context, members []T, batch func(context.Context, []T) (map[string]V, error)) (found map[string]V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a batch: %v\n%s", p, debug.Stack())
		}
	}()
	return batch(ctx, members)
}

// loader returns the edge's, filled as soon as it is made.
func loader[T, V any](ctx context.Context, g *Group[T], edge string, batch func(context.Context, []T) (map[string]V, error)) *dataloader.Loader[string, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if made, ok := g.loaders[edge].(*dataloader.Loader[string, V]); ok {
		return made
	}
	fetch := func(ctx context.Context, keys []string) []*dataloader.Result[V] {
		found, err := guarded(ctx, g.members, batch)
		results := make([]*dataloader.Result[V], len(keys))
		for i, key := range keys {
			value, ok := found[key]
			switch {
			case err != nil:
				results[i] = &dataloader.Result[V]{Error: err}
			case !ok:
				results[i] = &dataloader.Result[V]{Error: errMissing}
			default:
				results[i] = &dataloader.Result[V]{Data: value}
			}
		}
		return results
	}
	n := len(g.keys)
	made := dataloader.NewBatchedLoader(fetch, dataloader.WithBatchCapacity[string, V](n), dataloader.WithInputCapacity[string, V](n),
		dataloader.WithWait[string, V](time.Minute)) // never up: the next line fills the batch
	made.LoadMany(ctx, g.keys)
	g.loaders[edge] = made
	return made
}
