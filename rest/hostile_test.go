package rest_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/internal/web/middleware"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/store/exchange"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// hostileSegments are path segments that change their meaning if a server cleans the path,
// decodes it twice, or decodes it before splitting it.
var hostileSegments = []string{
	"..", ".", "%2e%2e", "%2E.", "%2e", "..%2f..", "..%2F..%2Ften-off", "%2F", "a%2F", "%2Fa", "%5c", "..%5c..", "%00", "ten-off%00",
	";", "a;b=c",
	"", "%252f", "..%252f..", "%252e%252e", "%c0%ae%c0%ae", "%ff", "*", "~", "{id}", "..;", "%20", "%0a", "%23", "%3f", "%0d%0aX:y",
}

// TestHostilePathSegments requires that the route has as many segments as the path, with its
// constant segments and parameters as sent, and that no request changes anything.
func TestHostilePathSegments(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		writeError := problem.Writer(slog.New(slog.DiscardHandler))
		api := rest.New(graph.NewResolver(s.store), writeError)
		mux := api.Handler()
		var pattern string
		var values func(string) string
		handler := middleware.NormalizePath(writeError,
			opctx.TextHeaders()...)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mux.ServeHTTP(w, r)
			pattern, values = r.Pattern, r.PathValue
		}))
		before := exportShop(t, s)
		sentRequests := 0
		for _, coordinate := range auth.Coordinates() {
			method, path, isRoute := strings.Cut(coordinate, " ")
			if family, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); !isRoute || family != "v2" && family != "catalog" {
				continue
			}
			segments := strings.Split(path[1:], "/")
			for i := range segments {
				for _, bad := range hostileSegments {
					if bad == "" && i == len(segments)-1 {
						continue // a path that ends in a slash
					}
					sent := existingPath(segments)
					sent[i] = bad
					target := "/" + strings.Join(sent, "/")
					r := httptest.NewRequestWithContext(auth.WithPrincipal(t.Context(), admin()), method, target,
						strings.NewReader(`{"data":{"codes":["HI"],"quantity":1}}`))
					if method != http.MethodGet {
						r.Header.Set("Content-Type", "application/json")
					}
					w := httptest.NewRecorder()
					pattern = ""
					opctx.Middleware(handler).ServeHTTP(w, r)
					sentRequests++
					require.Less(t, w.Code, http.StatusInternalServerError, "%s %s returns %s", method, target, w.Body)
					require.True(t, w.Code < 300 || w.Code >= 400, "%s %s is not redirected", method, target)
					if w.Code >= 400 {
						requireEnvelope(t, target, w)
					}
					requireOwnRoute(t, target, pattern, values)
				}
			}
		}
		require.Greater(t, sentRequests, 1000)
		require.True(t, before == exportShop(t, s), "nothing changed")
	})
}

// existingPath returns a route's path with parameters that exist.
func existingPath(segments []string) []string {
	sent := make([]string, len(segments))
	for i, segment := range segments {
		sent[i] = segment
		switch {
		case segment == ":id" && segments[1] == "promotions":
			sent[i] = "ten-off"
		case segment == ":id" && segments[1] == "nodes":
			sent[i] = "tools"
		case segment == ":id" && segments[1] == "hierarchies":
			sent[i] = "workshop"
		case segment == ":id":
			sent[i] = "anvil"
		case segment == ":code":
			sent[i] = "TEN-OFF"
		case segment == ":slug":
			sent[i] = "manual"
		case segment == ":transaction":
			sent[i] = "ledger-1"
		}
	}
	return sent
}

func requireOwnRoute(t *testing.T, target, pattern string, value func(string) string) {
	t.Helper()
	if pattern == "" || pattern == "/" { // none
		return
	}
	sent := strings.FieldsFunc(target, func(c rune) bool { return c == '/' })
	words := strings.Split(strings.TrimPrefix(pattern, "/"), "/")
	require.Len(t, sent, len(words), "%s ran the route %s", target, pattern)
	for i, word := range words {
		text, err := url.PathUnescape(sent[i])
		require.NoError(t, err)
		if name, ok := strings.CutPrefix(word, "{"); ok {
			word = value(strings.TrimSuffix(name, "}"))
		}
		require.Equal(t, text, word, "%s ran the route %s", target, pattern)
	}
}

func exportShop(t *testing.T, s *testServer) string {
	t.Helper()
	var b bytes.Buffer
	_, err := s.store.Exchange.Export(t.Context(), &b, exchange.ExportOptions{})
	require.NoError(t, err)
	return b.String()
}
