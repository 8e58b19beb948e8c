package model

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"portico/graph/plan"
)

// Group is the rows of one list, or of one edge of a list, in a response. The first row
// that follows an edge loads it for all rows in one batch. So the number of SQL
// statements depends on the shape of a query, not on the size of its pages.
//
// A plan runs on one goroutine and loads at once. gqlgen's executor uses many, and a
// dataloader whose batch is full from the start.
//
// A group lives as long as its response, and belongs to one operation and user.
type Group[T any] struct {
	members     []T
	mu          sync.Mutex
	edges       []followedEdge
	edgesBuffer [2]followedEdge // where edges begins
}

// followedEdge has the values of an edge, or its dataloader.
type followedEdge struct {
	name string
	to   any
}

// followed returns what was loaded for an edge, or nil.
func (g *Group[T]) followed(name string) any {
	for i := range g.edges {
		if g.edges[i].name == name {
			return g.edges[i].to
		}
	}
	return nil
}

func (g *Group[T]) follow(name string, to any) {
	if g.edges == nil {
		g.edges = g.edgesBuffer[:0]
	}
	g.edges = append(g.edges, followedEdge{name, to})
}

// Sibling is a row's position in its group. Rows embed it.
type Sibling[T any] struct {
	group *Group[T]
	at    int
}

// Row is a type that can be in a group: it is set from a source and a position.
type Row[T, S any] interface {
	*T
	Place(of S, place Sibling[*T])
}

// Siblings returns a group of rows, one for each source.
func Siblings[T, S any, P Row[T, S]](sources []S) []*T {
	rows := make([]T, len(sources))
	group := &Group[*T]{members: make([]*T, len(sources))}
	for i, source := range sources {
		P(&rows[i]).Place(source, Sibling[*T]{group, i})
		group.members[i] = &rows[i]
	}
	return group.members
}

// SiblingLists returns the rows of several lists in one group.
func SiblingLists[T, S any, P Row[T, S]](lists [][]S) [][]*T {
	rows, cut := Siblings[T, S, P](slices.Concat(lists...)), make([][]*T, len(lists))
	for i, list := range lists {
		n := len(list)
		cut[i], rows = rows[:n:n], rows[n:]
	}
	return cut
}

// Load follows an edge from a row. batch is a method of the value before it. It gets all
// siblings, and returns a value for each, in order. It does not run once ctx is done.
func Load[R, T, V any](ctx context.Context, row Sibling[T], edge string, of R, batch func(R, context.Context, []T) ([]V, error)) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if !plan.IsSerial(ctx) {
		return loader(ctx, row.group, edge, of, batch).Load(ctx, row.at)()
	}
	column := valuesOf(ctx, row.group, edge, of, batch)
	if column.err != nil {
		return none, column.err
	}
	return column.values[row.at], nil
}

// edgeValues are the values of an edge for all rows of a group.
type edgeValues[V any] struct {
	values []V
	err    error
}

func valuesOf[R, T, V any](ctx context.Context, g *Group[T], edge string, of R, batch func(R, context.Context, []T) ([]V, error)) *edgeValues[V] {
	if fetched, ok := g.followed(edge).(*edgeValues[V]); ok {
		return fetched
	}
	fetched := &edgeValues[V]{}
	fetched.values, fetched.err = batch(of, ctx, g.members)
	g.follow(edge, fetched)
	return fetched
}

// recoverBatch runs batch, and converts a panic to an error, because dataloader calls it
// on another goroutine.
func recoverBatch[R, T, V any](ctx context.Context, members []T, of R, batch func(R, context.Context, []T) ([]V, error)) (values []V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a batch: %v\n%s", p, debug.Stack())
		}
	}()
	return batch(of, ctx, members)
}

// loader returns the dataloader of an edge, with all rows already requested.
func loader[R, T, V any](ctx context.Context, g *Group[T], edge string, of R, batch func(R, context.Context, []T) ([]V, error)) *dataloader.Loader[int, V] {
	g.mu.Lock()
	defer g.mu.Unlock()
	if made, ok := g.followed(edge).(*dataloader.Loader[int, V]); ok {
		return made
	}
	fetch := func(ctx context.Context, places []int) []*dataloader.Result[V] {
		values, err := recoverBatch(ctx, g.members, of, batch)
		results := make([]*dataloader.Result[V], len(places))
		for i, place := range places {
			results[i] = &dataloader.Result[V]{Error: err}
			if err == nil {
				results[i].Data = values[place]
			}
		}
		return results
	}
	n := len(g.members)
	made := dataloader.NewBatchedLoader(fetch, dataloader.WithBatchCapacity[int, V](n), dataloader.WithInputCapacity[int, V](n),
		dataloader.WithWait[int, V](time.Minute)) // never up: the next line fills the batch
	places := make([]int, n)
	for i := range places {
		places[i] = i
	}
	made.LoadMany(ctx, places)
	g.follow(edge, made)
	return made
}

// ValuesByKey returns the values of the keys, in order, and the zero value for missing
// ones.
func ValuesByKey[V any](keys []string, byKey map[string]V) []V {
	values := make([]V, len(keys))
	for i, key := range keys {
		values[i] = byKey[key]
	}
	return values
}
