package frontcache_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/internal/web"
	"portico/internal/web/frontcache"
)

// TestWarmRepeatsRequests requires that Warm sends the handler the requests whose responses end, with everything that
// decides the response, and no others.
func TestWarmRepeatsRequests(t *testing.T) {
	t.Parallel()
	type request struct {
		method, uri, body string
		header            http.Header
		rights            string
		warming           bool
	}
	shopper := &auth.Principal{ClientID: "c", Grant: auth.GrantShopper, Scopes: []string{"catalog:read", "b"}, AccountID: "acme", AccountTags: []string{"vip"}, CustomerID: "x"}
	var seen request
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		req := reqctx.From(r.Context())
		seen = request{method: r.Method, uri: r.RequestURI, body: string(body), header: r.Header, warming: req.Warming}
		if p, ok := req.Caller.(*auth.Principal); ok {
			seen.rights = string(p.AppendRights(nil))
		}
		if req.WantsOffer {
			ends := !strings.Contains(r.RequestURI, "stays")
			req.Offer = &responsecache.Offer{Response: responsecache.NewResponse([]byte("body"), nil), Current: func() bool { return true },
				EndsSoon: func(context.Context) bool { return ends }}
		}
		_, _ = io.WriteString(w, "body")
	})
	for name, r := range map[string]*http.Request{
		"page":     get("/catalog/products?filter=eq(name,x%20y)&page[limit]=2", "Accept-Language", "de", "Accept-Language", "fr", "X-Moltin-Currency", "EUR"),
		"nobody":   get("/catalog"),
		"graphql":  httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader("{\"query\":\"{ a }\"}")),
		"its tail": get("/x", "Ep-Inventories-Multi-Location", "true"),
	} {
		var caller any = shopper
		if name == "nobody" {
			caller = nil
		}
		front := frontcache.New(frontcache.Config{Responses: responsecache.NewCache(1 << 20), OnRequest: func(context.Context) {},
			CallerOf: func(*http.Request) any { return caller }, OnAnswer: func(*reqctx.Request, *http.Request, *web.Recorder) {}})
		body, _ := io.ReadAll(r.Body)
		ask := func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			front.Middleware(handler).ServeHTTP(httptest.NewRecorder(), r)
		}
		for range 2 {
			ask(r.Clone(t.Context()))
			stays := get("/stays")
			front.Middleware(handler).ServeHTTP(httptest.NewRecorder(), stays)
		}
		ask(r.Clone(t.Context()))
		sent := request{method: r.Method, uri: r.RequestURI, body: string(body), header: r.Header, warming: true}
		if caller != nil {
			sent.rights = string(shopper.AppendRights(nil))
		}
		seen = request{}
		paused := 0
		require.Equal(t, 1, front.Warm(t.Context(), handler, func(context.Context) { paused++ }), name)
		require.Equal(t, sent, seen, name)
		require.Equal(t, 1, paused)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.Zero(t, front.Warm(ended, handler, func(context.Context) {}))
	}
}
