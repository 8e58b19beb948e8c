package transport_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/executor"
	"portico/graph/graphtest"
	"portico/graph/transport"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// ended records the statistics of operations.
type ended struct {
	mu         sync.Mutex
	ran, begun []executor.OperationStats
}

func (e *ended) option() transport.Option {
	return transport.CountOperations(func(_ context.Context, ran executor.OperationStats) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.ran = append(e.ran, ran)
	}, func(_ context.Context, of executor.OperationStats) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.begun = append(e.begun, of)
	})
}

// taken returns the statistics since the last call. It sets durations to a second if they took
// time.
func (e *ended) taken() (ran, begun []executor.OperationStats) {
	e.mu.Lock()
	defer e.mu.Unlock()
	ran, begun = e.ran, e.begun
	e.ran, e.begun = nil, nil
	for i := range ran {
		if ran[i].Took > 0 {
			ran[i].Took = 1
		}
	}
	return ran, begun
}

// Each operation is reported once, with name, kind and codes, by either executor. A 200 with
// errors is an error.
func TestOperationStats(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, operationStats)
}

func operationStats(t *testing.T, e storetest.Backend) {
	s := graphtest.Open(t, e, graphtest.Shop())
	for name, options := range map[string][]transport.Option{"plan": {transport.WithResponseCache(responsecache.NewCache(1 << 20))}, "gqlgen": {transport.WithoutPlans()}} {
		t.Run(name, func(t *testing.T) {
			told := &ended{}
			handler := graphtest.NewHandler(s.Store, append(options, told.option())...)
			for _, test := range []struct {
				query string
				want  executor.OperationStats
			}{
				{`query Products { products(first: 1) { nodes { id } } }`, executor.OperationStats{Name: "Products", Kind: "query", Took: 1}},
				{`{ __typename }`, executor.OperationStats{Kind: "query", Took: 1}},
				{`query Gone { nodes(ids: ["x", "y"]) { id } hierarchies(first: 5000) { totalCount } }`, executor.OperationStats{Name: "Gone", Kind: "query", Took: 1, Codes: []store.Code{store.Unprocessable}}},
				{`mutation Set { settingsUpdate(input: {pageLength: 30}) { settings { pageLength } } }`, executor.OperationStats{Name: "Set", Kind: "mutation", Took: 1}},
				{`query Nonsense { nonsense }`, executor.OperationStats{Took: 1, Codes: []store.Code{store.Invalid}}},
				{`query Broken {`, executor.OperationStats{Took: 1, Codes: []store.Code{store.Invalid}}},
				{`query Costly { catalogNodes(first: 100) { nodes { products(first: 100) { nodes { id name sku slug uuid description } } } } }`, executor.OperationStats{Name: "Costly", Kind: "query", Took: 1, Codes: []store.Code{store.Unprocessable}}},
			} {
				for range 2 { // the second time it is known
					r, known := reqctx.Begin(httptest.NewRequest("POST", "/graphql", strings.NewReader(postBody(test.query))))
					r.Header.Set("Content-Type", "application/json")
					handler.ServeHTTP(httptest.NewRecorder(), graphtest.As(r, graphtest.Admin()))
					ran, begun := told.taken()
					require.Empty(t, begun)
					require.Len(t, ran, 1, test.query)
					require.Equal(t, test.want, ran[0], test.query)
					require.Equal(t, test.want.Name, known.OperationName)
				}
			}
			r := httptest.NewRequest("GET", "/graphql?query="+url.QueryEscape(`mutation Set { settingsUpdate(input: {}) { settings { pageLength } } }`), nil)
			handler.ServeHTTP(httptest.NewRecorder(), graphtest.As(r, graphtest.Admin()))
			ran, _ := told.taken()
			require.Len(t, ran, 1)
			require.Equal(t, []store.Code{store.Invalid}, ran[0].Codes)
		})
	}
}

// A subscription is reported when it begins and when it ends.
func TestSubscriptionStats(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, subscriptionStats)
}

func subscriptionStats(t *testing.T, e storetest.Backend) {
	s := graphtest.Open(t, e, graphtest.Shop())
	told := &ended{}
	handler := graphtest.NewHandler(s.Store, told.option())
	ask := func(query string) {
		ctx, cancel := context.WithCancel(t.Context())
		r := httptest.NewRequestWithContext(ctx, "POST", "/graphql", strings.NewReader(postBody(query)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "text/event-stream")
		first := &firstWrite{ResponseRecorder: httptest.NewRecorder(), then: cancel}
		handler.ServeHTTP(first, graphtest.As(r, graphtest.Admin()))
		cancel()
	}
	wait := func() []executor.OperationStats {
		testkit.Eventually(t, true, func() bool {
			told.mu.Lock()
			defer told.mu.Unlock()
			return len(told.ran) > 0
		})
		ran, begun := told.taken()
		return append(begun, ran...)
	}
	ask(`subscription Watch { catalogPublished { id } }`)
	is := executor.OperationStats{Name: "Watch", Kind: "subscription"}
	require.Equal(t, []executor.OperationStats{is, is}, wait())
	ask(`subscription Watch { nonsense }`)
	require.Equal(t, []executor.OperationStats{{Codes: []store.Code{store.Invalid}}}, wait())
	ask(`query Streamed { __typename }`)
	require.Equal(t, []executor.OperationStats{{Name: "Streamed", Kind: "query", Took: 1}}, wait())
}

// firstWrite calls then on the first event.
type firstWrite struct {
	*httptest.ResponseRecorder
	then func()
}

func (w *firstWrite) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "event:") {
		defer w.then()
	}
	return w.ResponseRecorder.Write(p)
}

var _ http.Flusher = (*firstWrite)(nil)

func postBody(query string) string {
	return `{"query": ` + string(store.Encode(query)) + `}`
}
