package model

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"portico/internal/cachekey"
	"portico/store"
)

// batch is the rows of one list, or of one edge of a list, in a response. The first row that follows an
// edge loads it for all rows. So the number of SQL statements depends on the shape of a query, not on
// the size of its pages.
//
// A plan runs each root field on one goroutine and loads at once. gqlgen's executor uses many goroutines, and a
// dataloader that has all rows from the start.
//
// A batch lives as long as its response, and belongs to one operation and user.
type batch[T any] struct {
	rows        []T
	mu          sync.Mutex    // guards edges, but not with WithSerial: one goroutine needs no lock
	edges       []loadedEdge  // followed so far
	edgesBuffer [2]loadedEdge // avoids allocating edges
}

// loadedEdge is an edge that a row has followed.
type loadedEdge struct {
	name   cachekey.Key // with its arguments
	values any          // *edgeValues, or the *dataloader.Loader of gqlgen's executor
}

// loaded returns the values or the dataloader of an edge; nil if no row followed it.
func (b *batch[T]) loaded(name cachekey.Key) any {
	for i := range b.edges {
		if b.edges[i].name == name {
			return b.edges[i].values
		}
	}
	return nil
}

// add keeps the values or the dataloader of an edge.
func (b *batch[T]) add(name cachekey.Key, values any) {
	if b.edges == nil {
		b.edges = b.edgesBuffer[:0]
	}
	b.edges = append(b.edges, loadedEdge{name, values})
}

// BatchRow is the position of a row in its batch. Types of rows embed it, and pass it to Load.
type BatchRow[T any] struct {
	batch *batch[T]
	index int
}

// Row is a type of rows: Init sets a row from its source and its position.
type Row[T, S any] interface {
	*T
	Init(source S, position BatchRow[*T])
}

// NewBatch returns the rows of a new batch, one for each source.
func NewBatch[T, S any, P Row[T, S]](sources []S) []*T {
	rows := make([]T, len(sources))
	b := &batch[*T]{rows: make([]*T, len(sources))}
	for i, source := range sources {
		P(&rows[i]).Init(source, BatchRow[*T]{b, i})
		b.rows[i] = &rows[i]
	}
	return b.rows
}

// NewBatchOfLists returns the rows of several lists, which are one batch.
func NewBatchOfLists[T, S any, P Row[T, S]](lists [][]S) [][]*T {
	rows, cut := NewBatch[T, S, P](slices.Concat(lists...)), make([][]*T, len(lists))
	for i, list := range lists {
		n := len(list)
		cut[i], rows = rows[:n:n], rows[n:]
	}
	return cut
}

// WithSerial returns a context for callers that follow the edges of a batch on one goroutine: Load then needs no
// dataloader, whose goroutine costs a page of products 5 % of its time.
func WithSerial(ctx context.Context) context.Context {
	return context.WithValue(ctx, serialKey{}, true)
}

type serialKey struct{}

// Load returns the value of an edge without arguments of a row. It calls load, a method of r, once for all rows of the
// batch; load returns a value for each row, in order. It does not run once ctx is done or the operation has spent what it may
// cost: an edge may have many aliases, each of which reads before it is charged.
func Load[R, T, V any](ctx context.Context, row BatchRow[T], edge string, r R, load func(R, context.Context, []T) ([]V, error)) (V, error) {
	return LoadBy(ctx, row, cachekey.New(edge), r, load)
}

// LoadBy is Load for an edge with arguments, which its key has too.
func LoadBy[R, T, V any](ctx context.Context, row BatchRow[T], edge cachekey.Key, r R, load func(R, context.Context, []T) ([]V, error)) (V, error) {
	var none V
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if ctx.Value(serialKey{}) == nil {
		return loader(ctx, row.batch, edge, r, load).Load(ctx, row.index)()
	}
	loaded := valuesOf(ctx, row.batch, edge, r, load)
	if loaded.err != nil {
		return none, loaded.err
	}
	return loaded.values[row.index], nil
}

// LoadRow returns the value of an edge of this row alone, for arguments that hold for one row, such as a cursor.
func LoadRow[R, T, V any](ctx context.Context, row BatchRow[T], r R, load func(R, context.Context, []T) ([]V, error)) (V, error) {
	values, err := loadRows(ctx, row.batch.rows[row.index:row.index+1], r, load)
	if err != nil {
		var none V
		return none, err
	}
	return values[0], nil
}

// loadRows calls load, unless ctx is done or the operation has spent what it may cost.
func loadRows[R, T, V any](ctx context.Context, rows []T, r R, load func(R, context.Context, []T) ([]V, error)) ([]V, error) {
	if err := store.ChargeSteps(ctx, 0); err != nil {
		return nil, err
	}
	return load(r, ctx, rows)
}

// edgeValues are the values of an edge for all rows of a batch.
type edgeValues[V any] struct {
	values []V
	err    error
}

// valuesOf returns the values of an edge, which it loads on the first call. Only one goroutine may call it.
func valuesOf[R, T, V any](ctx context.Context, b *batch[T], edge cachekey.Key, r R, load func(R, context.Context, []T) ([]V, error)) *edgeValues[V] {
	if known, ok := b.loaded(edge).(*edgeValues[V]); ok {
		return known
	}
	e := &edgeValues[V]{}
	e.values, e.err = loadRows(ctx, b.rows, r, load)
	b.add(edge, e)
	return e
}

// recoverLoad is loadRows, and converts a panic to an error: a dataloader calls it on another goroutine.
func recoverLoad[R, T, V any](ctx context.Context, rows []T, r R, load func(R, context.Context, []T) ([]V, error)) (values []V, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a batch: %v\n%s", p, debug.Stack())
		}
	}()
	return loadRows(ctx, rows, r, load)
}

// loader returns the dataloader of an edge, with all rows already requested.
func loader[R, T, V any](ctx context.Context, b *batch[T], edge cachekey.Key, r R, load func(R, context.Context, []T) ([]V, error)) *dataloader.Loader[int, V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	if known, ok := b.loaded(edge).(*dataloader.Loader[int, V]); ok {
		return known
	}
	fetch := func(ctx context.Context, indexes []int) []*dataloader.Result[V] {
		values, err := recoverLoad(ctx, b.rows, r, load)
		results := make([]*dataloader.Result[V], len(indexes))
		for i, index := range indexes {
			results[i] = &dataloader.Result[V]{Error: err}
			if err == nil {
				results[i].Data = values[index]
			}
		}
		return results
	}
	n := len(b.rows)
	l := dataloader.NewBatchedLoader(fetch, dataloader.WithBatchCapacity[int, V](n), dataloader.WithInputCapacity[int, V](n),
		dataloader.WithWait[int, V](time.Minute)) // never reached: LoadMany requests all rows
	indexes := make([]int, n)
	for i := range indexes {
		indexes[i] = i
	}
	l.LoadMany(ctx, indexes)
	b.add(edge, l)
	return l
}

// ValuesByKey returns the values of keys, in order. The value of a missing key is zero.
func ValuesByKey[V any](keys []string, byKey map[string]V) []V {
	values := make([]V, len(keys))
	for i, key := range keys {
		values[i] = byKey[key]
	}
	return values
}
