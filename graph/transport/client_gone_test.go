package transport_test

import (
	"context"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// disconnectingContext is the context of a client that disconnects after the context was checked so many times.
type disconnectingContext struct {
	context.Context
	cancel context.CancelFunc
	looks  atomic.Int64
	stays  int64
}

func newDisconnectingContext(ctx context.Context, stays int64) *disconnectingContext {
	ctx, cancel := context.WithCancel(ctx)
	return &disconnectingContext{Context: ctx, cancel: cancel, stays: stays}
}

// Err implements context.Context.
func (l *disconnectingContext) Err() error {
	if l.looks.Add(1) == l.stays {
		l.cancel()
	}
	return l.Context.Err()
}

// The server stops soon after the client disconnects. It checks the context before each field of
// an introspection and before each edge, which the test counts.
func TestWorkStopsWhenTheClientIsGone(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.BigShop(t))
		for name, query := range map[string]string{
			"introspection":            introspections["GraphiQL"],
			"introspection by aliases": `{` + graphtest.Many(20, ` a#: __schema { types { name } }`) + ` }`,
			"edges of a page":          `{ products(first: 100) { nodes { parent { children { parent { children { uuid catalogNodes { uuid } } } } } } } }`,
			"pages by aliases":         `{` + graphtest.Many(80, ` a#: products(first: 2) { nodes { uuid children { uuid } } }`) + ` }`,
			"mutations":                `mutation {` + graphtest.Many(50, ` a#: settingsUpdate(input: {pageLength: 7}) { userErrors { message } }`) + ` }`,
		} {
			t.Run(name, func(t *testing.T) {
				ask := func(stays int64) (looks int64, statements int) {
					ctx, counter := store.CountStatements(t.Context())
					client := newDisconnectingContext(ctx, stays)
					s.Handler.ServeHTTP(httptest.NewRecorder(), graphtest.As(graphtest.NewPost(t, query, nil).WithContext(client), graphtest.Admin()))
					return client.looks.Load(), len(counter.Queries())
				}
				ask(0) // what is read once
				all, statements := ask(0)
				require.Greater(t, all, int64(40), "the client is looked for")
				testkit.Eventually(t, true, func() bool { // a poll may have noticed the mutations just now, and something is read anew
					looks, few := ask(10)
					require.Less(t, looks, all/2, "of %d looks", all)
					return few <= max(2, statements/4)
				}, "a quarter of the statements at most, of ", statements)
			})
		}
		require.NotContains(t, s.Log.String(), "a resolver failed")
	})
}
