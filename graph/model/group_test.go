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
)

// row is a row of a page.
type row struct{ id string }

func rows(n int) []row {
	list := make([]row, n)
	for i := range list {
		list[i] = row{fmt.Sprintf("r%03d", i)}
	}
	return list
}

func group(list []row) *model.Group[row] {
	return model.NewGroup(list, func(r row) string { return r.id })
}

// counted is a batch that answers each row with its id in capitals, as it
// were, and counts how often it ran.
type counted struct {
	runs atomic.Int64
	mu   sync.Mutex
	saw  []row
}

func (c *counted) batch(_ context.Context, all []row) (map[string]string, error) {
	c.runs.Add(1)
	c.mu.Lock()
	c.saw = slices.Clone(all)
	c.mu.Unlock()
	answers := map[string]string{}
	for _, r := range all {
		answers[r.id] = "answer to " + r.id
	}
	return answers, nil
}

func TestOneBatchServesAllSiblings(t *testing.T) {
	t.Parallel()
	list, c := rows(100), &counted{}
	g := group(list)
	for _, r := range list {
		answer, err := model.Load(t.Context(), g, "edge", r.id, c.batch)
		require.NoError(t, err)
		require.Equal(t, "answer to "+r.id, answer)
	}
	require.EqualValues(t, 1, c.runs.Load(), "batches")
	require.Equal(t, list, c.saw, "a batch gets every sibling, in order")
}

func TestOneRowIsABatch(t *testing.T) {
	t.Parallel()
	c := &counted{}
	answer, err := model.Load(t.Context(), group(rows(1)), "edge", "r000", c.batch)
	require.NoError(t, err)
	require.Equal(t, "answer to r000", answer)
	require.EqualValues(t, 1, c.runs.Load())
}

func TestARowThatComesTwiceIsOneSibling(t *testing.T) {
	t.Parallel()
	c := &counted{}
	g := group([]row{{"a"}, {"b"}, {"a"}})
	for _, id := range []string{"a", "b", "a"} {
		answer, err := model.Load(t.Context(), g, "edge", id, c.batch)
		require.NoError(t, err)
		require.Equal(t, "answer to "+id, answer)
	}
	require.Equal(t, []row{{"a"}, {"b"}}, c.saw)
	require.EqualValues(t, 1, c.runs.Load())
}

func TestEachEdgeHasItsOwnBatch(t *testing.T) {
	t.Parallel()
	g := group(rows(3))
	one, two, numbers := &counted{}, &counted{}, 0
	for range 2 {
		_, err := model.Load(t.Context(), g, "one", "r000", one.batch)
		require.NoError(t, err)
		_, err = model.Load(t.Context(), g, "two", "r001", two.batch)
		require.NoError(t, err)
		n, err := model.Load(t.Context(), g, "numbers", "r002", func(context.Context, []row) (map[string]int, error) {
			numbers++
			return map[string]int{"r002": 42}, nil
		})
		require.NoError(t, err)
		require.Equal(t, 42, n, "edges lead to values of any type")
	}
	require.EqualValues(t, 1, one.runs.Load())
	require.EqualValues(t, 1, two.runs.Load())
	require.Equal(t, 1, numbers)
}

func TestWhatABatchLeavesOutIsTheZeroValue(t *testing.T) {
	t.Parallel()
	g := group(rows(2))
	batch := func(context.Context, []row) (map[string][]string, error) {
		return map[string][]string{"r000": {"something"}}, nil
	}
	something, err := model.Load(t.Context(), g, "edge", "r000", batch)
	require.NoError(t, err)
	require.Equal(t, []string{"something"}, something)
	nothing, err := model.Load(t.Context(), g, "edge", "r001", batch)
	require.NoError(t, err)
	require.Nil(t, nothing)

	pointer, err := model.Load(t.Context(), g, "pointer", "r000", func(context.Context, []row) (map[string]*row, error) { return nil, nil })
	require.NoError(t, err)
	require.Nil(t, pointer, "an empty answer leaves everyone out")
}

func TestAnErrorIsEverySiblings(t *testing.T) {
	t.Parallel()
	list := rows(100)
	g, failure := group(list), errors.New("the database is away")
	runs := 0
	batch := func(context.Context, []row) (map[string]string, error) {
		runs++
		return map[string]string{"r000": "half an answer"}, failure
	}
	for _, r := range list {
		answer, err := model.Load(t.Context(), g, "edge", r.id, batch)
		require.ErrorIs(t, err, failure, r.id)
		require.Empty(t, answer, "no half answers")
	}
	require.Equal(t, 1, runs, "it is not tried again for each")
}

func TestAPanicIsEverySiblingsError(t *testing.T) {
	t.Parallel()
	list := rows(10)
	g, runs := group(list), atomic.Int64{}
	for _, r := range list {
		_, err := model.Load(t.Context(), g, "edge", r.id, func(context.Context, []row) (map[string]string, error) {
			runs.Add(1)
			panic("a bug")
		})
		require.Error(t, err, r.id)
		require.Contains(t, err.Error(), "a bug", "the log needs the cause")
	}
	require.EqualValues(t, 1, runs.Load(), "it is not tried again for each")
}

// Siblings are resolved at the same time, on a machine that has other things
// to do: still there is one batch for each edge.
func TestSiblingsAskAtTheSameTime(t *testing.T) {
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
	var counts []*counted
	for range 10 {
		g, c, d := group(rows(100)), &counted{}, &counted{}
		counts = append(counts, c, d)
		for _, r := range rows(100) {
			everyone.Go(func() {
				for edge, c := range map[string]*counted{"one": c, "two": d} {
					answer, err := model.Load(t.Context(), g, edge, r.id, c.batch)
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

// An edge of an edge: what a batch brings is a group of its own, and so on.
func TestBatchesWithinBatches(t *testing.T) {
	t.Parallel()
	type parent struct {
		id       string
		children *model.Group[row]
	}
	inner := &counted{}
	outer := func(_ context.Context, all []row) (map[string]*parent, error) {
		children := group(all)
		found := map[string]*parent{}
		for _, r := range all {
			found[r.id] = &parent{r.id, children}
		}
		return found, nil
	}
	list := rows(50)
	g := group(list)
	var everyone sync.WaitGroup
	for _, r := range list {
		everyone.Go(func() {
			p, err := model.Load(t.Context(), g, "parents", r.id, outer)
			if err != nil {
				t.Error(err)
				return
			}
			if answer, err := model.Load(t.Context(), p.children, "inner", r.id, inner.batch); err != nil || answer != "answer to "+r.id {
				t.Errorf("%s got %q, %v", r.id, answer, err)
			}
		})
	}
	everyone.Wait()
	require.EqualValues(t, 1, inner.runs.Load())
}

func TestAnEmptyGroupAsksNothing(t *testing.T) {
	t.Parallel()
	require.NotNil(t, group(nil))
}

// A batch runs for the first of the siblings who asks; what it reads the
// context for (the principal, the shopper) is the same for all of them.
func TestABatchSeesTheOperation(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx := context.WithValue(t.Context(), key{}, "the operation")
	saw, err := model.Load(ctx, group(rows(5)), "edge", "r003", func(ctx context.Context, all []row) (map[string]any, error) {
		return map[string]any{"r003": ctx.Value(key{})}, nil
	})
	require.NoError(t, err)
	require.Equal(t, "the operation", saw)
}
