package executor_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// A cached response shows other callers only what their scopes allow, and current stock.
func TestCachedResponseRespectsTheCallersScopes(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		x := newExecutors(t, s)
		const query = `query ($n: Int) { products(first: $n) { nodes { uuid stock { available transactions(first: 1) { quantity } } } } catalogNodes { totalCount } }`
		readers := []*auth.Principal{graphtest.Admin(), graphtest.Client("catalog:read"), graphtest.Client("catalog:read", "inventory:read"), graphtest.Client("inventory:read"), nil, graphtest.Admin()}
		for _, available := range []int{3, 8} {
			_, err := s.Store.Stock.Transact(t.Context(), "test", []stock.Change{{ProductID: "anvil", Action: stock.StockSet, Quantity: available}})
			require.NoError(t, err)
			for i, reader := range readers {
				errors := x.same(t, query, graphtest.Variables{"n": 50}, func(r *http.Request) *http.Request { return graphtest.As(r, reader) })
				require.Equal(t, reader == nil || !contains(reader.Scopes, "inventory:write"), errors > 0, "reader %d", i)
			}
			w := httptest.NewRecorder()
			x.withResponses.Handler.ServeHTTP(w, graphtest.As(graphtest.NewPost(t, query, graphtest.Variables{"n": 50}), graphtest.Admin()))
			require.Contains(t, w.Body.String(), fmt.Sprintf(`"uuid":"anvil","stock":{"available":%d,`, available))
		}
	})
}

func contains(scopes []string, scope string) bool {
	return strings.Contains(strings.Join(scopes, " "), scope)
}

// Root fields count for cached responses too, which run no statement.
func TestCachedResponseRunsNoStatement(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		var mu sync.Mutex // guards counted, because root fields run side by side
		counted, room := map[string]int{}, responsecache.NewCache(1<<20)
		s.Handler = graphtest.NewHandler(s.Store, transport.WithResponseCache(room),
			transport.CountFields(func(_ context.Context, field string) {
				mu.Lock()
				defer mu.Unlock()
				counted[field]++
			}))
		asked := 0
		ask := func() (statements int) {
			asked++
			ctx, counter := store.CountStatements(t.Context())
			s.Handler.ServeHTTP(httptest.NewRecorder(), graphtest.As(graphtest.NewPost(t, `{ a: products(first: 2) { nodes { sku } } hierarchies { totalCount } }`, nil), graphtest.Admin()).WithContext(
				auth.WithPrincipal(ctx, graphtest.Admin())))
			return counter.Count()
		}
		require.NotZero(t, ask())
		testkit.Eventually(t, 0, ask) // the poll after a write has the rules read once more
		require.Equal(t, map[string]int{"Query.products": asked, "Query.hierarchies": asked}, counted)
		require.Equal(t, responsecache.Stats{Hits: uint64(asked) - 1, Misses: 1, Bytes: room.Stats().Bytes}, room.Stats())
	})
}

// A response that depends on the release alone has an ETag. Responses with stock or errors, and
// those to POST, have none.
func TestGETResponsesHaveETags(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, graphtest.Shop())
		ask := func(handler http.Handler, method, query string, reader *auth.Principal, known string) *httptest.ResponseRecorder {
			r := graphtest.NewPost(t, query, nil)
			if method == http.MethodGet {
				r = httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(query), nil)
			}
			if known != "" {
				r.Header.Set("If-None-Match", known)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, graphtest.As(r, reader))
			return w
		}
		account := graphtest.Client("catalog:read")
		account.AccountID = "acme"
		const lasting, live, broken = `{ products(first: 3) { nodes { sku } } }`, `{ products(first: 3) { nodes { sku stock { available } } } }`, `{ products(first: 3, after: "!") { nodes { sku } } }`
		for name, options := range map[string][]transport.Option{"kept": {transport.WithResponseCache(responsecache.NewCache(1 << 20))}, "not kept": nil} {
			handler := graphtest.NewHandler(s.Store, options...)
			for range 3 { // made, found, found and known by its bytes
				got := ask(handler, "GET", lasting, graphtest.Admin(), "")
				tag := got.Header().Get("Etag")
				require.NotEmpty(t, tag, name)
				require.Equal(t, "public, no-cache", got.Header().Get("Cache-Control"))
				require.Equal(t, "private, no-cache", ask(handler, "GET", lasting, account, "").Header().Get("Cache-Control"))
				again := ask(handler, "GET", lasting, graphtest.Admin(), tag)
				require.Equal(t, []any{304, 0, tag, "public, no-cache"}, []any{again.Code, again.Body.Len(), again.Header().Get("Etag"), again.Header().Get("Cache-Control")})
				require.Equal(t, 200, ask(handler, "GET", lasting, graphtest.Admin(), `"other"`).Code)
				for _, query := range []string{`{ locales currencies { code } formats: currencies { format } }`, `{ searchSuggestions(text: "a") { completions } }`, `{ sitemap(first: 3) { endCursor } }`,
					`{ node(id: "anvil") { id } }`, `{ nodes(ids: ["` + store.GlobalID(store.TypeCatalogNode, "tools") + `", "none"]) { id } }`} {
					got := ask(handler, "GET", query, graphtest.Admin(), "")
					require.Equal(t, "public, no-cache", got.Header().Get("Cache-Control"), "%s: %s", query, got.Body)
					require.Equal(t, 304, ask(handler, "GET", query, graphtest.Admin(), got.Header().Get("Etag")).Code, query)
				}
				for _, query := range []string{live, broken, `{ products(filter: {inStock: true}) { totalCount } }`, `{ catalogNode(by: {id: "tools"}) { products(filter: {inStock: false}) { totalCount } } }`,
					`{ node(id: "` + store.GlobalID(store.TypeStock, "anvil") + `") { id } }`, `{ nodes(ids: ["anvil", "` + store.GlobalID(store.TypeFile, "photo-1") + `"]) { id } }`, `{ settings { currency } }`, `{ __schema { queryType { name } } }`} {
					w := ask(handler, "GET", query, graphtest.Admin(), "*")
					require.Equal(t, []any{200, "", "no-store"}, []any{w.Code, w.Header().Get("Etag"), w.Header().Get("Cache-Control")}, query)
				}
				for _, query := range []string{lasting, live} {
					w := ask(handler, "POST", query, graphtest.Admin(), "*")
					require.Equal(t, []any{200, "", ""}, []any{w.Code, w.Header().Get("Etag"), w.Header().Get("Cache-Control")}, query)
				}
				require.Equal(t, ask(handler, "POST", lasting, graphtest.Admin(), "").Body.String(), got.Body.String())
			}
		}
	})
}

// Concurrent requests share a plan, its arguments and its cached response, but no rows.
func TestConcurrentRequestsShareAPlan(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		x := newExecutors(t, graphtest.Open(t, e, graphtest.Shop()))
		const query = `query ($n: Int, $on: Boolean!) { products(first: $n, filter: {productTypes: {in: ["standard", "parent"]}}, orderBy: {field: NAME}) {
			facets { groups(keys: ["tags"], first: 3) { values { value toggled } } } edges { cursor node { sku stock { total } children { sku } files { file { uuid } } breadcrumbs @include(if: $on) { ancestors { name } } } } } }`
		for _, s := range []*graphtest.Service{x.planned, x.withResponses} {
			ask := func() string {
				w := httptest.NewRecorder()
				s.Handler.ServeHTTP(w, graphtest.As(graphtest.NewPost(t, query, graphtest.Variables{"n": 20, "on": true}), graphtest.Admin()))
				return w.Body.String()
			}
			want := ask()
			require.NotContains(t, want, `"errors"`)
			var everyone sync.WaitGroup
			for range 8 {
				everyone.Go(func() {
					for range 5 {
						if got := ask(); got != want {
							t.Errorf("%s\nis not\n%s", got, want)
						}
					}
				})
			}
			everyone.Wait()
		}
	})
}

// An error beside stock makes its parent null. The stock must not be written elsewhere.
func TestStockIsNotWrittenIntoANullParent(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		x := newExecutors(t, graphtest.Open(t, e, graphtest.Shop()))
		const query = `{ none: product(by: {id: "easel"}) { sku stock { available } childrenConnection(first: 1000) { totalCount } } some: product(by: {id: "anvil"}) { description uuid name sku slug status stock { available } } }`
		require.Positive(t, x.same(t, query, nil, func(r *http.Request) *http.Request { return graphtest.As(r, graphtest.Admin()) }))
	})
}

// A parent that becomes null still reports the errors of its stock, as its siblings do.
func TestNullParentKeepsTheErrorsOfItsStock(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		x := newExecutors(t, graphtest.Open(t, e, graphtest.Shop()))
		const query = `{ some: product(by: {id: "anvil"}) { sku stock { total } } none: product(by: {id: "easel"}) { sku first: stock { available } childrenConnection(first: 1000) { totalCount } second: stock { total } } }`
		require.Equal(t, 4, x.same(t, query, nil, func(r *http.Request) *http.Request { return graphtest.As(r, graphtest.Client("catalog:read")) }))
	})
}
