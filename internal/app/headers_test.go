package app

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/playground"
	"portico/internal/web"
	"portico/internal/web/metrics"
	"portico/rest"
)

// paths returns all paths of the main listener and some unknown ones.
func (h *testServer) paths(t *testing.T) (paths []string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, rest.OpenAPIPath, nil))
	for _, found := range regexp.MustCompile(`(?m)^  (/[^:]*):`).FindAllStringSubmatch(w.Body.String(), -1) {
		paths = append(paths, strings.NewReplacer("{", "", "}", "").Replace(found[1]))
	}
	require.Greater(t, len(paths), 30)
	return append(paths, "/", "/graphql", "/graphql?query={__typename}", "/schema.graphql", "/oauth/access_token", "/.well-known/jwks.json",
		web.HealthPath, web.ReadyPath, rest.OpenAPIPath, rest.DocsPath, rest.DocsPath+"/docs.js", playground.Path+"/playground.js",
		playground.Path+"/none", playground.GraphiQLPath, playground.GraphiQLPath+"/none", "/none", "/v2/none", "/catalog/none",
		"/v2/../x", "/catalog//nodes")
}

// TestEveryResponseForbidsSniffing checks every path of both listeners, with every method,
// errors included.
func TestEveryResponseForbidsSniffing(t *testing.T) {
	t.Parallel()
	h := newDemoServer(t)
	check := func(handler http.Handler, method, path, authorization string) {
		r, w := httptest.NewRequest(method, path, strings.NewReader("{")), httptest.NewRecorder()
		r.Header.Set("Authorization", authorization)
		handler.ServeHTTP(w, r)
		require.Equal(t, []string{"nosniff"}, w.Header()["X-Content-Type-Options"], "%s %s is %d", method, path, w.Code)
	}
	for _, path := range h.paths(t) {
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodDelete,
			http.MethodOptions, "NONE"} {
			check(h.handler, method, path, "Bearer "+h.token)
			check(h.handler, method, path, "Bearer none")
		}
	}
	admin := h.adminHandler()
	for _, path := range []string{metrics.Path, web.HealthPath, web.ReadyPath, "/debug/pprof/", "/debug/pprof/cmdline", "/none", "//"} {
		check(admin, http.MethodGet, path, "")
		check(admin, http.MethodDelete, path, "")
	}
}

// TestEncodedBodiesAreRejected requires 415 for a compressed body on every kind of route.
// Content-Encoding: identity is accepted.
func TestEncodedBodiesAreRejected(t *testing.T) {
	t.Parallel()
	h := newDemoServer(t)
	for _, route := range []testRequest{
		{method: http.MethodPost, path: "/graphql", body: graphqlBody("{__typename}", "{}")},
		{name: "events", method: http.MethodPost, path: "/graphql", body: graphqlBody("{__typename}", "{}"),
			header: []string{"Accept", "text/event-stream"}},
		{method: http.MethodPut, path: "/v2/settings", body: `{"data":{"type":"settings"}}`},
		{method: http.MethodPut, path: "/v2/gateways/manual", body: `{"data":{"type":"gateway"}}`},
		{method: http.MethodPost, path: "/v2/inventories/multiple", body: `{"data":[]}`},
		{method: http.MethodPost, path: "/catalog/products/x/configure", body: `{"data":{"selected_options":{}}}`},
		{method: http.MethodPost, path: "/oauth/access_token", body: "grant_type=implicit&client_id=x"},
	} {
		t.Run(route.name+route.path, func(t *testing.T) {
			t.Parallel()
			send := func(encodings ...string) *httptest.ResponseRecorder {
				r, w := h.request(t.Context(), route), httptest.NewRecorder()
				if r.Header.Set("Content-Type", "application/json"); strings.HasPrefix(route.path, "/oauth") {
					r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				}
				r.Header["Content-Encoding"] = encodings
				h.handler.ServeHTTP(w, r)
				return w
			}
			for _, encodings := range [][]string{{"gzip"}, {"zstd, gzip"}, {"identity", "br"}, {strings.Repeat("x", 5000)}} {
				w := send(encodings...)
				require.Equal(t, http.StatusUnsupportedMediaType, w.Code, w.Body)
				require.Equal(t, "identity", w.Header().Get("Accept-Encoding"))
				require.Contains(t, w.Body.String(), "Content-Encoding")
				require.Contains(t, w.Body.String(), "Send the body uncompressed")
				require.Contains(t, w.Body.String(), `{"errors":[{`)
				require.Less(t, w.Body.Len(), 500)
			}
			for _, encodings := range [][]string{nil, {""}, {"identity"}, {"Identity"}} {
				require.NotEqual(t, http.StatusUnsupportedMediaType, send(encodings...).Code, encodings)
			}
		})
	}
}
