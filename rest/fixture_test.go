package rest_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/internal/responsecache"
	"portico/internal/web"
	"portico/internal/web/middleware"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/rest/resttest"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

func TestMain(m *testing.M) { dbtest.SQLiteMain(m) }

// testServer serves both APIs over one store. Its default client has every scope.
type testServer struct {
	store     *shop.Store
	handler   http.Handler
	responses *responsecache.Cache
}

// openShop imports and publishes a shop and serves both APIs.
func openShop(t testing.TB, e storetest.Backend, lines string, options ...func(*shop.Config)) *testServer {
	t.Helper()
	if os.Getenv("PORTICO_TEST_STOCK") != "off" { // the full tests also run without it
		e = e.WithStockCache()
	}
	s := e.Open(t, options...)
	importLines(t, s, lines)
	require.NoError(t, s.Stock.Warm(t.Context())) // before the first request
	return serveStore(t, s)
}

// serveStore serves both APIs over a store.
func serveStore(t testing.TB, s *shop.Store) *testServer {
	t.Helper()
	return serveWith(t, s, responsecache.NewCache(responseCacheBytes()), opctx.CachePolicy{})
}

// serveWithoutCache is serveStore without a cache of responses.
func serveWithoutCache(t testing.TB, s *shop.Store) *testServer {
	t.Helper()
	return serveWith(t, s, responsecache.NewCache(0), opctx.CachePolicy{})
}

// serveCaching serves both APIs with headers for HTTP caches.
func serveCaching(t testing.TB, s *shop.Store, policy opctx.CachePolicy) *testServer {
	t.Helper()
	return serveWith(t, s, responsecache.NewCache(responseCacheBytes()), policy)
}

func serveWith(t testing.TB, s *shop.Store, room *responsecache.Cache, policy opctx.CachePolicy) *testServer {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	tokens := newTokens(t, s)
	resolver := graph.NewResolver(s, graph.WithTokens(tokens))
	mux := http.NewServeMux()
	mux.Handle("/graphql", transport.NewHandler(resolver, log, transport.WithResponseCache(room), transport.WithCachePolicy(policy)))
	writeError := problem.Writer(log)
	api := rest.New(resolver, writeError, rest.WithResponseCache(room), rest.WithCachePolicy(policy))
	mux.Handle("/", api.Handler())
	mux.Handle("/oauth/access_token", tokens.TokenHandler(writeError))
	mux.Handle("/.well-known/jwks.json", tokens.JWKSHandler(writeError))
	mux.Handle(web.HealthPath, middleware.Health())
	mux.Handle(web.ReadyPath, middleware.Ready(s.Ping, s.WriteTrouble))
	return &testServer{s, resttest.CheckHandler(t, middleware.NormalizePath(writeError, opctx.TextHeaders()...)(mux)), room}
}

// newTokens returns a service for the tokens of a store.
func newTokens(t testing.TB, s *shop.Store) *auth.Service {
	t.Helper()
	sealer, err := seal.New([]byte(strings.Repeat("k", seal.KeySize)))
	require.NoError(t, err)
	tokens, err := auth.New(t.Context(), s.Access, sealer, auth.Options{Clock: testkit.NewClock(noon).Now})
	require.NoError(t, err)
	return tokens
}

// responseCacheBytes is the size of the response cache. PORTICO_TEST_RESPONSE_CACHE=off, which the full
// tests also run with, turns the cache off.
func responseCacheBytes() uint64 {
	if os.Getenv("PORTICO_TEST_RESPONSE_CACHE") == "off" {
		return 0
	}
	return 16 << 20
}

// importLines imports a shop and publishes its catalogs.
func importLines(t testing.TB, s *shop.Store, lines string) {
	t.Helper()
	reader := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil }
	_, err := s.Exchange.Import(t.Context(), "test", reader, exchange.ImportOptions{})
	require.NoError(t, err)
	ids, err := s.Releases.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err := s.Publisher.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
}

// admin returns a client with every scope.
func admin() *auth.Principal {
	return &auth.Principal{ClientID: "admin", Grant: "client_credentials", Scopes: access.Scopes()}
}

// as returns the handler for requests of a principal. nil means without a token.
func (s *testServer) as(p *auth.Principal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p != nil {
			r = r.WithContext(auth.WithPrincipal(r.Context(), p))
		}
		opctx.Middleware(s.handler).ServeHTTP(w, r)
	})
}

// send sends a request as an admin. headers are alternating names and values.
func (s *testServer) send(t testing.TB, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	s.as(admin()).ServeHTTP(w, r)
	return w
}
