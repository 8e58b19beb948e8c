package model_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/model"
	"portico/internal/cachekey"
	"portico/store"
)

// row is a row of a page.
type row struct {
	id string
	model.BatchRow[*row]
}

// Init implements model.Row.
func (r *row) Init(id string, place model.BatchRow[*row]) { *r = row{id, place} }

// rows are r000, r001 and so on, side by side.
func rows(n int) []*row {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("r%03d", i)
	}
	return side(ids)
}

func side(ids []string) []*row {
	return model.NewBatch[row](ids)
}

// inBoth runs a test as plans resolve edges, one after the other, and as gqlgen's executor does.
func inBoth(t *testing.T, test func(t *testing.T, ctx context.Context)) {
	t.Parallel()
	t.Run("by plan", func(t *testing.T) { test(t, model.WithSerial(t.Context())) })
	t.Run("by gqlgen", func(t *testing.T) { test(t, t.Context()) })
}

// countedRows is a batch that returns each row and counts its runs.
type countedRows struct {
	runs atomic.Int64
	mu   sync.Mutex
	saw  []*row
}

func (c *countedRows) batch(_ context.Context, all []*row) ([]string, error) {
	c.runs.Add(1)
	c.mu.Lock()
	c.saw = slices.Clone(all)
	c.mu.Unlock()
	answers := make([]string, len(all))
	for i, r := range all {
		answers[i] = "answer to " + r.id
	}
	return answers, nil
}

func TestOneBatchServesAllSiblings(t *testing.T) {
	inBoth(t, func(t *testing.T, ctx context.Context) {
		list, c := rows(100), &countedRows{}
		for _, r := range list {
			answer, err := model.Load(ctx, r.BatchRow, "edge", c, (*countedRows).batch)
			require.NoError(t, err)
			require.Equal(t, "answer to "+r.id, answer)
		}
		require.EqualValues(t, 1, c.runs.Load(), "batches")
		require.Equal(t, list, c.saw, "a batch gets every sibling, in order")
	})
}

// spent is an allowance of which nothing is left.
type spent struct{}

func (spent) Charge(int) error { return &store.Error{Code: store.Unprocessable, Detail: "spent"} }

func TestNothingIsLoadedOnceTheOperationIsSpent(t *testing.T) {
	inBoth(t, func(t *testing.T, ctx context.Context) {
		list, c := rows(3), &countedRows{}
		early, err := model.Load(ctx, list[0].BatchRow, "loaded before", c, (*countedRows).batch)
		require.NoError(t, err)
		ctx = context.WithValue(ctx, store.AllowanceKey, spent{})
		again, err := model.Load(ctx, list[0].BatchRow, "loaded before", c, (*countedRows).batch)
		require.NoError(t, err, "what was loaded costs nothing more")
		require.Equal(t, early, again)
		for i := range 3 { // as aliases of an edge do
			_, err = model.LoadBy(ctx, list[0].BatchRow, cachekey.New("edge", fmt.Sprint(i)), c, (*countedRows).batch)
			require.ErrorContains(t, err, "spent")
			_, err = model.LoadRow(ctx, list[0].BatchRow, c, (*countedRows).batch)
			require.ErrorContains(t, err, "spent")
		}
		require.EqualValues(t, 1, c.runs.Load(), "batches")
	})
}

func TestARowAloneIsLoadedForItself(t *testing.T) {
	inBoth(t, func(t *testing.T, ctx context.Context) {
		list, c := rows(3), &countedRows{}
		answer, err := model.LoadRow(ctx, list[1].BatchRow, c, (*countedRows).batch)
		require.NoError(t, err)
		require.Equal(t, "answer to r001", answer)
		require.Equal(t, list[1:2], c.saw)
	})
}

func TestOneRowIsABatch(t *testing.T) {
	inBoth(t, func(t *testing.T, ctx context.Context) {
		c := &countedRows{}
		answer, err := model.Load(ctx, rows(1)[0].BatchRow, "edge", c, (*countedRows).batch)
		require.NoError(t, err)
		require.Equal(t, "answer to r000", answer)
		require.EqualValues(t, 1, c.runs.Load())
	})
}

func TestEachEdgeHasItsOwnBatch(t *testing.T) {
	inBoth(t, func(t *testing.T, ctx context.Context) {
		list := rows(3)
		one, two, runs := &countedRows{}, &countedRows{}, 0
		for range 2 {
			_, err := model.Load(ctx, list[0].BatchRow, "one", one, (*countedRows).batch)
			require.NoError(t, err)
			_, err = model.Load(ctx, list[1].BatchRow, "two", two, (*countedRows).batch)
			require.NoError(t, err)
			n, err := model.Load(ctx, list[2].BatchRow, "numbers", &runs, func(runs *int, _ context.Context, all []*row) ([]int, error) {
				*runs++
				return []int{0, 0, 42}, nil
			})
			require.NoError(t, err)
			require.Equal(t, 42, n, "edges lead to values of any type")
		}
		require.EqualValues(t, 1, one.runs.Load())
		require.EqualValues(t, 1, two.runs.Load())
		require.Equal(t, 1, runs)
	})
}

func TestBatchErrorFailsEverySibling(t *testing.T) {
	inBoth(t, func(t *testing.T, ctx context.Context) {
		failure, runs := errors.New("the database is not responding"), 0
		for _, r := range rows(100) {
			answer, err := model.Load(ctx, r.BatchRow, "edge", &runs, func(runs *int, _ context.Context, _ []*row) ([]string, error) {
				*runs++
				return []string{"half an answer"}, failure
			})
			require.ErrorIs(t, err, failure, r.id)
			require.Empty(t, answer, "no half answers")
		}
		require.Equal(t, 1, runs, "it is not tried again for each")
	})
}

func TestBatchStopsWhenTheClientIsGone(t *testing.T) {
	inBoth(t, func(t *testing.T, ctx context.Context) {
		ctx, leave := context.WithCancel(ctx)
		leave()
		c := &countedRows{}
		_, err := model.Load(ctx, rows(2)[1].BatchRow, "edge", c, (*countedRows).batch)
		require.ErrorIs(t, err, context.Canceled)
		require.Zero(t, c.runs.Load())
	})
}

// Only with gqlgen's executor: a plan stops at a panic.
func TestBatchPanicFailsEverySibling(t *testing.T) {
	t.Parallel()
	runs := atomic.Int64{}
	for _, r := range rows(10) {
		_, err := model.Load(t.Context(), r.BatchRow, "edge", &runs, func(runs *atomic.Int64, _ context.Context, _ []*row) ([]string, error) {
			runs.Add(1)
			panic("a bug")
		})
		require.Error(t, err, r.id)
		require.Contains(t, err.Error(), "a bug", "the log needs the cause")
	}
	require.EqualValues(t, 1, runs.Load(), "it is not tried again for each")
}

// Siblings run concurrently, on a busy machine too, and still share one batch for each edge.
func TestConcurrentSiblingsShareABatch(t *testing.T) {
	t.Parallel()
	busy, stop := sync.WaitGroup{}, atomic.Bool{}
	for range 8 {
		busy.Go(func() {
			for n := 0; !stop.Load(); n++ {
				_ = fmt.Sprint(n)
			}
		})
	}
	defer busy.Wait()
	defer stop.Store(true)

	var everyone sync.WaitGroup
	var counts []*countedRows
	for range 10 {
		c, d := &countedRows{}, &countedRows{}
		counts = append(counts, c, d)
		for _, r := range rows(100) {
			everyone.Go(func() {
				for edge, c := range map[string]*countedRows{"one": c, "two": d} {
					answer, err := model.Load(t.Context(), r.BatchRow, edge, c, (*countedRows).batch)
					if err != nil || answer != "answer to "+r.id {
						t.Errorf("%s got %q, %v", r.id, answer, err)
					}
				}
			})
		}
	}
	everyone.Wait()
	for _, c := range counts {
		require.EqualValues(t, 1, c.runs.Load(), "batches for one edge")
	}
}

// The results of a batch are a group with batches of its own.
func TestNestedBatches(t *testing.T) {
	t.Parallel()
	inner := &countedRows{}
	var everyone sync.WaitGroup
	for _, r := range rows(50) {
		everyone.Go(func() {
			child, err := model.Load(t.Context(), r.BatchRow, "children", 0, func(_ int, _ context.Context, all []*row) ([]*row, error) {
				return rows(len(all)), nil
			})
			if err != nil {
				t.Error(err)
				return
			}
			if answer, err := model.Load(t.Context(), child.BatchRow, "inner", inner, (*countedRows).batch); err != nil || answer != "answer to "+r.id {
				t.Errorf("%s got %q, %v", r.id, answer, err)
			}
		})
	}
	everyone.Wait()
	require.EqualValues(t, 1, inner.runs.Load())
}

func TestEmptyGroupRunsNoBatch(t *testing.T) {
	t.Parallel()
	require.Empty(t, rows(0))
}

// A batch runs with the context of the first sibling. What it reads from the context (principal,
// shopper) is the same for all.
func TestBatchHasTheContextOfTheOperation(t *testing.T) {
	type key struct{}
	inBoth(t, func(t *testing.T, ctx context.Context) {
		ctx = context.WithValue(ctx, key{}, "the operation")
		saw, err := model.Load(ctx, rows(5)[3].BatchRow, "edge", 0, func(_ int, ctx context.Context, all []*row) ([]any, error) {
			values := make([]any, len(all))
			values[3] = ctx.Value(key{})
			return values, nil
		})
		require.NoError(t, err)
		require.Equal(t, "the operation", saw)
	})
}

func TestValuesFollowTheOrderOfKeys(t *testing.T) {
	t.Parallel()
	require.Equal(t, []int{2, 0, 1, 2}, model.ValuesByKey([]string{"b", "none", "a", "b"}, map[string]int{"a": 1, "b": 2}))
}
