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

// Group is the rows that one list, or one edge of a list, brought into the
// answer side by side. What one of them asks for, its siblings will too: the
// first to follow an edge fetches it for all of them in one batch. So the
// number of SQL statements depends on the shape of a query and not on the size
// of its pages, and no timer decides what goes into a batch.
//
// A plan runs on one goroutine, and fetches at once. gqlgen's executor has many,
// one of which a dataloader has fetch for all; its batch is full from the start.
//
// A group lives as long as its answer. It belongs to one operation, and so to
// one user.
type Group[T any] struct {
	members     []T
	mu          sync.Mutex
	edges       []followedEdge
	edgesBuffer [2]followedEdge // where edges begins
}

// followedEdge is one that was followed: a column, or a dataloader.
type followedEdge struct {
	name string
	to   any
}

// followed is what was found at an edge; nil where nobody has been.
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

// Sibling is a row's place in its group. Rows embed it.
type Sibling[T any] struct {
	group *Group[T]
	at    int
}

// Row is what can stand among siblings: it is made of a source, and has its
// place.
type Row[T, S any] interface {
	*T
	Place(of S, place Sibling[*T])
}

// Siblings makes rows side by side, one of each source.
func Siblings[T, S any, P Row[T, S]](sources []S) []*T {
	rows := make([]T, len(sources))
	group := &Group[*T]{members: make([]*T, len(sources))}
	for i, source := range sources {
		P(&rows[i]).Place(source, Sibling[*T]{group, i})
		group.members[i] = &rows[i]
	}
	return group.members
}

// SiblingLists makes the rows of several lists, which all become siblings of
// each other, whichever list they are in.
func SiblingLists[T, S any, P Row[T, S]](lists [][]S) [][]*T {
	rows, cut := Siblings[T, S, P](slices.Concat(lists...)), make([][]*T, len(lists))
	for i, list := range lists {
		n := len(list)
		cut[i], rows = rows[:n:n], rows[n:]
	}
	return cut
}

// Load follows an edge from a row. batch is a method of what is given before
// it; it gets all siblings, and returns what each has, in their order. A client
// that has gone is followed no further.
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

// edgeValues is what all members of a group have at an edge.
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

// recoverBatch turns a panic of a batch, which runs on a goroutine of its own, into
// an error for everyone who waits for it.
func recoverBatch[R, T, V any](ctx context.Context, members []T, of R, batch func(R, context.Context, []T) ([]V, error)) (values []V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a batch: %v\n%s", p, debug.Stack())
		}
	}()
	return batch(of, ctx, members)
}

// loader returns the edge's, filled as soon as it is made.
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

// ValuesByKey takes values by key, in the order of the keys; the zero value for
// what is missing.
func ValuesByKey[V any](keys []string, byKey map[string]V) []V {
	values := make([]V, len(keys))
	for i, key := range keys {
		values[i] = byKey[key]
	}
	return values
}
