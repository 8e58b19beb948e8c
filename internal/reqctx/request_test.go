package reqctx_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/reqctx"
)

func TestBeginTwice(t *testing.T) {
	t.Parallel()
	require.Nil(t, reqctx.From(t.Context()))
	first, known := reqctx.Begin(httptest.NewRequest("GET", "/", nil))
	second, again := reqctx.Begin(first)
	require.Same(t, first, second)
	require.Same(t, known, again)
	require.Same(t, known, reqctx.From(first.Context()))
	require.False(t, known.Start.IsZero())
	another, other := reqctx.Begin(httptest.NewRequest("GET", "/", nil))
	require.NotSame(t, known, other)
	require.Same(t, other, reqctx.From(another.Context()))
}

// TestRequestIsContext requires that a Request behaves like the context it began with.
func TestRequestIsContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	r, known := reqctx.Begin(httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	below, end := context.WithCancel(r.Context())
	defer end()
	require.Equal(t, "value", below.Value(key{}))
	require.Same(t, known, reqctx.From(below))
	require.NoError(t, below.Err())
	cancel()
	<-below.Done()
	require.ErrorIs(t, r.Context().Err(), context.Canceled)
}

// TestFromAllocations requires no allocations, since each layer calls From.
func TestFromAllocations(t *testing.T) {
	r, _ := reqctx.Begin(httptest.NewRequest("GET", "/", nil))
	require.Zero(t, testing.AllocsPerRun(100, func() { reqctx.From(r.Context()).HeaderValue("one") }))
}
