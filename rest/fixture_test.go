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
	"portico/rest"
	"portico/rest/resttest"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest"
)

func TestMain(m *testing.M) { storetest.SQLiteMain(m) }

// testServer is both surfaces over one store, asked as a client with every scope.
type testServer struct {
	store   *shop.Store
	handler http.Handler
}

// openShop imports and publishes a shop, and mounts both surfaces over it.
func openShop(t testing.TB, e storetest.Backend, lines string, options ...func(*shop.Config)) *testServer {
	t.Helper()
	if os.Getenv("PORTICO_STOCK") != "off" { // as the long form of the tests is run with as well
		e = e.WithStockCache()
	}
	s := e.Open(t, options...)
	importLines(t, s, lines)
	require.NoError(t, s.WarmStock(t.Context())) // no later than after the import
	return serveStore(t, s)
}

// serveStore mounts both surfaces over a store.
func serveStore(t testing.TB, s *shop.Store) *testServer {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	sealer, err := seal.New([]byte(strings.Repeat("k", seal.KeySize)))
	require.NoError(t, err)
	tokens, err := auth.New(t.Context(), s, sealer, auth.Options{Clock: storetest.NewClock(noon).Now})
	require.NoError(t, err)
	resolver := graph.NewResolver(s, graph.WithTokens(tokens))
	mux := http.NewServeMux()
	room := responsecache.NewCache(keptBytes())
	mux.Handle("/graphql", transport.NewHandler(resolver, log, transport.WithResponseCache(room)))
	api := rest.New(resolver, log, rest.WithResponseCache(room))
	mux.Handle("/", api.Handler())
	mux.Handle("/oauth/access_token", tokens.TokenHandler(api.WriteError))
	mux.Handle("/.well-known/jwks.json", tokens.JWKSHandler(api.WriteError))
	mux.Handle(web.HealthPath, middleware.Health())
	mux.Handle(web.ReadyPath, middleware.Ready(s.Ping, s.ReadOnly))
	return &testServer{s, resttest.CheckHandler(t, middleware.NormalizePath(api.WriteError, opctx.TextHeaders()...)(mux))}
}

// keptBytes is how many bytes of answers are kept, so that every test of this
// package sees kept answers; none with PORTICO_ANSWERS=off, which the long form
// of the tests is run with as well.
func keptBytes() uint64 {
	if os.Getenv("PORTICO_ANSWERS") == "off" {
		return 0
	}
	return 16 << 20
}

// importLines imports a shop and publishes its catalogs.
func importLines(t testing.TB, s *shop.Store, lines string) {
	t.Helper()
	reader := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(lines)), nil }
	_, err := s.Import(t.Context(), "test", reader, exchange.ImportOptions{})
	require.NoError(t, err)
	ids, err := s.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err := s.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
}

// admin is a client that may do everything.
func admin() *auth.Principal {
	return &auth.Principal{ClientID: "admin", Grant: "client_credentials", Scopes: access.Scopes()}
}

// as makes the surfaces believe in a principal; nil is no token.
func (s *testServer) as(p *auth.Principal) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p != nil {
			r = r.WithContext(auth.WithPrincipal(r.Context(), p))
		}
		opctx.Middleware(s.handler).ServeHTTP(w, r)
	})
}

// send sends a request as an admin; headers come in pairs.
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
