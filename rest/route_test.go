package rest_test

import (
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/opctx"
	"portico/internal/web/middleware"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/rest/resttest"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// allowedMethods returns the methods of each documented path.
func allowedMethods() map[string]string {
	return map[string]string{
		productsOf("tools"): "GET, HEAD, OPTIONS",
		"/v2/inventories":   "GET, HEAD, POST, OPTIONS",
		"/v2/settings":      "GET, HEAD, PUT, OPTIONS",

		"/catalog":                               "GET, HEAD, OPTIONS",
		"/catalog/hierarchies":                   "GET, HEAD, OPTIONS",
		"/catalog/hierarchies/workshop/nodes":    "GET, HEAD, OPTIONS",
		"/catalog/nodes/tools":                   "GET, HEAD, OPTIONS",
		"/catalog/products/anvil":                "GET, HEAD, OPTIONS",
		"/v2/inventories/multiple":               "POST, OPTIONS",
		"/v2/inventories/locations":              "GET, HEAD, OPTIONS",
		"/catalog/products/anvil/configure":      "POST, OPTIONS",
		"/v2/files":                              "GET, HEAD, OPTIONS",
		"/v2/files/photo-1":                      "GET, HEAD, OPTIONS",
		"/v2/currencies":                         "GET, HEAD, OPTIONS",
		"/v2/currencies/USD":                     "GET, HEAD, OPTIONS",
		"/v2/inventories/anvil":                  "GET, HEAD, POST, DELETE, OPTIONS",
		"/v2/inventories/anvil/transactions":     "GET, HEAD, POST, OPTIONS",
		"/v2/inventories/anvil/transactions/one": "GET, HEAD, OPTIONS",
		"/v2/shopper-tokens":                     "POST, OPTIONS",

		"/v2/promotions":                        "GET, HEAD, POST, OPTIONS",
		"/v2/promotions/ten-off":                "GET, HEAD, PUT, DELETE, OPTIONS",
		"/v2/promotions/ten-off/codes":          "GET, HEAD, POST, DELETE, OPTIONS",
		"/v2/promotions/ten-off/codes/TEN-OFF":  "DELETE, OPTIONS",
		"/v2/promotions/spring/usages":          "GET, HEAD, OPTIONS",
		"/v2/promotions/spring/codes/HI/usages": "GET, HEAD, OPTIONS",
	}
}

// restOnlyHandler serves only REST, without the mux of other handlers.
func restOnlyHandler(t testing.TB, s *testServer) *testServer {
	writeError := problem.Writer(slog.New(slog.DiscardHandler))
	api := rest.New(graph.NewResolver(s.store), writeError)
	return &testServer{store: s.store, handler: resttest.CheckHandler(t, middleware.NormalizePath(writeError, opctx.TextHeaders()...)(api.Handler()))}
}

// TestPaths requires that no response is a redirect, which clients would have to follow.
func TestPaths(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := restOnlyHandler(t, openShop(t, e, shopFile(), withClock(testkit.NewClock(noon))))
		runScenarios(t, s, []scenario{
			{name: "a trailing slash", path: "/v2/inventories/"},
			{name: "a trailing slash before a query", path: "/v2/inventories/?page[limit]=1", ids: []string{"anvil"}},
			{name: "a trailing slash after an id", path: productsOf("tools") + "/", ids: toolProducts},
			{name: "several trailing slashes", path: "/v2/settings//"},
			{name: "a base URL that ends in a slash", path: "//v2/inventories", ids: stockedProducts},
			{name: "two slashes in the middle", path: "/catalog//nodes/tools/relationships/products", ids: toolProducts},
			{name: "encoded characters", path: "/catalog/nodes/%74ools/relationships/products", ids: toolProducts},
			{name: "unknown under /v2", path: "/v2/inventories/nowhere/at/all", status: 404, holds: []string{"/v2/inventories/nowhere/at/all"}},
			{name: "unknown under /catalog", path: "/catalog/nodes/tools/nowhere", status: 404, holds: []string{`"status":"404"`}},
			{name: "unknown elsewhere", path: "/nowhere", status: 404, holds: []string{`"status":404`, "/catalog/ and /v2/"}},
			{name: "the root", path: "/", status: 404},
			{name: "unknown with an unknown method", method: "PATCH", path: "/v2/nowhere", status: 404},
			{name: "an empty id", path: productsOf(""), status: 404},
			{name: "paths are case-sensitive", path: "/V2/inventories", status: 404},
			{name: "Content-Type on GET", path: "/v2/inventories", headers: []string{"Content-Type", "application/json"}},
			{name: "a body on GET", path: "/v2/inventories", body: "{"},
		})
	})
}

func TestMethods(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for path, want := range allowedMethods() {
			t.Run(path, func(t *testing.T) {
				for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "NONSENSE"} {
					if slices.Contains(strings.Split(want, ", "), method) {
						continue
					}
					w := s.send(t, method, path, `{"data":{}}`)
					require.Equal(t, http.StatusMethodNotAllowed, w.Code, "%s returns %s", method, w.Body)
					require.Equal(t, want, w.Header().Get("Allow"))
					requireJSON(t, path, w)
					require.Contains(t, w.Body.String(), want+", not "+method)
				}
				for _, who := range []http.Handler{s.as(admin()), s.as(nil)} {
					w := sendRequest(who, http.MethodOptions, path)
					require.Equal(t, http.StatusNoContent, w.Code, "%s", w.Body)
					require.Equal(t, want, w.Header().Get("Allow"))
					require.Empty(t, w.Body.String())
				}
			})
		}
	})
}

// TestHead uses a real connection, because net/http drops the body.
func TestHead(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		server := httptest.NewServer(s.as(admin()))
		t.Cleanup(server.Close)
		exchange := func(t *testing.T, method, path string) (answer *http.Response, body string) {
			r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
			require.NoError(t, err)
			r.Header.Set("Accept-Encoding", "gzip") // the client adds it only to GET
			answer, err = server.Client().Do(r)
			require.NoError(t, err)
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			require.NoError(t, err)
			return answer, string(text)
		}
		paths := slices.DeleteFunc(slices.Sorted(maps.Keys(allowedMethods())), func(path string) bool { return !strings.Contains(allowedMethods()[path], "GET") })
		for _, path := range append(paths, productsOf("nowhere"), "/v2/inventories?page[limit]=0", "/nowhere") {
			t.Run(path, func(t *testing.T) {
				get, body := exchange(t, http.MethodGet, path)
				head, none := exchange(t, http.MethodHead, path)
				require.Equal(t, get.StatusCode, head.StatusCode)
				get.Header.Del("Date")
				head.Header.Del("Date")
				require.Equal(t, get.Header, head.Header)
				require.NotEmpty(t, body)
				require.Empty(t, none)
			})
		}
	})
}
