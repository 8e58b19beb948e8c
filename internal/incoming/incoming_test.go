package incoming_test

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/incoming"
)

func TestARequestBeginsOnce(t *testing.T) {
	t.Parallel()
	require.Nil(t, incoming.From(t.Context()))
	first, known := incoming.Begin(httptest.NewRequest("GET", "/", nil))
	second, again := incoming.Begin(first)
	require.Same(t, first, second)
	require.Same(t, known, again)
	require.Same(t, known, incoming.From(first.Context()))
	require.False(t, known.Began.IsZero())
	another, other := incoming.Begin(httptest.NewRequest("GET", "/", nil))
	require.NotSame(t, known, other)
	require.Same(t, other, incoming.From(another.Context()))
}

// TestARequestIsAContext like the one it began with.
func TestARequestIsAContext(t *testing.T) {
	t.Parallel()
	type key struct{}
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
	r, known := incoming.Begin(httptest.NewRequest("GET", "/", nil).WithContext(ctx))
	below, end := context.WithCancel(r.Context())
	defer end()
	require.Equal(t, "value", below.Value(key{}))
	require.Same(t, known, incoming.From(below))
	require.NoError(t, below.Err())
	cancel()
	<-below.Done()
	require.ErrorIs(t, r.Context().Err(), context.Canceled)
}

// TestFindingARequestCostsNothing: every layer does.
func TestFindingARequestCostsNothing(t *testing.T) {
	r, _ := incoming.Begin(httptest.NewRequest("GET", "/", nil))
	require.Zero(t, testing.AllocsPerRun(100, func() { incoming.From(r.Context()).Line("one") }))
}
