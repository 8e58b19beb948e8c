package model_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/model"
	"portico/store"
)

func TestConnectionOfASlice(t *testing.T) {
	t.Parallel()
	counted := 0
	slice := &store.Slice[string]{Items: []string{"a", "b"}, Cursor: func(item int) string { return []string{"ca", "cb"}[item] }, Limit: 2, Offset: 4, HasNext: true, HasPrevious: true,
		Total: func(context.Context) (int, error) { counted++; return 9, nil }}
	c := model.NewConnection(slice, []string{"A", "B"})
	require.Equal(t, []string{"A", "B"}, c.Nodes)
	edges := c.Edges()
	require.Equal(t, []string{"ca", "A", "cb", "B"}, []string{edges[0].Cursor(), edges[0].Node, edges[1].Cursor(), edges[1].Node})
	require.True(t, c.PageInfo.HasNextPage && c.PageInfo.HasPreviousPage)
	require.Equal(t, []*string{ptr("ca"), ptr("cb")}, []*string{c.PageInfo.StartCursor(), c.PageInfo.EndCursor()})
	require.Equal(t, []int{2, 4}, []int{c.Limit, c.Offset})
	require.Zero(t, counted, "nobody asked for the total")
	total, err := c.TotalCount(t.Context())
	require.NoError(t, err)
	require.Equal(t, 9, total)
}

func TestEmptyConnection(t *testing.T) {
	t.Parallel()
	failure := errors.New("away")
	c := model.NewConnection(&store.Slice[string]{Limit: 25, Total: func(context.Context) (int, error) { return 0, failure }}, []string(nil))
	require.Equal(t, []string{}, c.Nodes, "an empty list, not null")
	require.Empty(t, c.Edges())
	require.NotNil(t, c.Edges())
	require.Nil(t, c.PageInfo.StartCursor())
	require.Nil(t, c.PageInfo.EndCursor())
	_, err := c.TotalCount(t.Context())
	require.ErrorIs(t, err, failure)
}

func TestUserErrorHasAFieldPath(t *testing.T) {
	t.Parallel()
	fault := &model.UserError{Error: &store.Error{Code: store.Unprocessable, Path: []string{"changes", "0", "quantity"}, Detail: "must be at least 1, got 0"}}
	require.Equal(t, []string{"input", "changes", "0", "quantity"}, fault.Field())
	require.Equal(t, "changes.0.quantity must be at least 1, got 0.", fault.Message())
	whole := &model.UserError{Error: &store.Error{Code: store.Conflict, Detail: "Another write came first."}}
	require.Equal(t, []string{}, whole.Field(), "an empty list, not null")
	require.Equal(t, "Another write came first.", whole.Message())
}
