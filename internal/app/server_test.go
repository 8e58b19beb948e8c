package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph/limits"
	"portico/internal/auth"
	"portico/internal/cli"
	"portico/internal/demo"
	"portico/internal/web/accesslog"
	"portico/store"
	"portico/store/access"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/storetest/testkit"
)

// These tests use the program's internals; internal/e2e tests the binary.
//
// The tests count the allocations of requests through all layers. Benchmarks measure them:
//
//	go test -run - -bench Cached ./internal/app
//
// PORTICO_TEST_BENCH_SHOP is an import file to use in place of the demo shop.

// testServer is a server without listeners.
type testServer struct {
	*app
	handler http.Handler
	token   string
	node    string // id of the node with the most products
}

// newDemoServer returns a server with the demo shop, or with the file of PORTICO_TEST_BENCH_SHOP.
func newDemoServer(t testing.TB, flags ...string) *testServer {
	t.Helper()
	h := newEmptyServer(t, flags...)
	a := h.app
	if path := os.Getenv("PORTICO_TEST_BENCH_SHOP"); path != "" {
		h.importShop(t, path)
	} else {
		require.NoError(t, demo.Fill(t.Context(), a.store))
	}
	require.NoError(t, a.store.Stock.Warm(t.Context())) // as at startup
	client, _, err := a.store.Access.CreateClient(t.Context(), "test", "test", access.Scopes())
	require.NoError(t, err)
	token, err := a.tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantClientCredentials, ClientID: client.ID, Scopes: client.Scopes,
		Lifetime: time.Hour})
	require.NoError(t, err)
	h.token = token.AccessToken
	return h
}

// newEmptyServer returns a server with an empty database.
func newEmptyServer(t testing.TB, flags ...string) *testServer {
	t.Helper()
	url := "file:" + filepath.Join(t.TempDir(), "shop.db")
	c := &Commands{}
	parser, err := cli.Parser(c, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	_, err = parser.Parse(append([]string{"serve", "--synchronous", "OFF", "--database-url", url, "--seal-key",
		strings.Repeat("QUFB", 10) + "QUE="}, flags...))
	require.NoError(t, err)
	logWriter := accesslog.NewLineWriter(io.Discard)
	a, err := c.Serve.open(t.Context(), accesslog.NewLogger(slog.New(slog.NewJSONHandler(logWriter, nil))), logWriter, schema)
	require.NoError(t, err)
	t.Cleanup(func() { a.store.Close() })
	return &testServer{app: a, handler: a.handler(), node: "node-coffee"}
}

// importShop imports and publishes a shop, and sets node.
func (h *testServer) importShop(t testing.TB, path string) {
	_, err := h.store.Exchange.Import(t.Context(), "test", func() (io.ReadCloser, error) { return os.Open(path) }, exchange.ImportOptions{})
	require.NoError(t, err)
	ids, err := h.store.Releases.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err := h.store.Publisher.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
	v, err := h.store.Releases.View(t.Context(), release.ShopperContext{})
	require.NoError(t, err)
	first, longest := store.MaxPageLength, -1
	nodes, err := v.Nodes(t.Context(), release.NodeQuery{Page: store.Page{First: &first}})
	require.NoError(t, err)
	for _, node := range nodes.Items {
		list, err := v.Products(t.Context(), release.ProductQuery{NodeID: node.ID})
		require.NoError(t, err)
		if total, _ := list.Total(t.Context()); total > longest {
			longest, h.node = total, node.ID
		}
	}
}

// testRequest is a request.
type testRequest struct {
	name, method, path, body string
	header                   []string // names and values in turn
	allocations              int      // the most that a cached response may take
}

func (h *testServer) cachedRequests() []testRequest {
	page := "/catalog/nodes/" + h.node + "/relationships/products?page[limit]=25&include=main_image,files,component_products"
	return []testRequest{
		{name: "settings", method: "GET", path: "/v2/settings", allocations: 15},
		{name: "typename", method: "POST", path: "/graphql", body: `{"query":"{__typename}"}`,
			header: []string{"Content-Type", "application/json"}, allocations: 35},
		{name: "page", method: "GET", path: page, allocations: 20},
		{name: "not modified", method: "GET", path: page, header: []string{"If-None-Match", h.etag(page)}, allocations: 20},
	}
}

// etag returns the ETag of a page.
func (h *testServer) etag(path string) string {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, h.request(context.Background(), testRequest{method: "GET", path: path}))
	return cmp.Or(w.Header().Get("Etag"), `"none"`)
}

func (h *testServer) request(ctx context.Context, q testRequest) *http.Request {
	r := httptest.NewRequestWithContext(ctx, q.method, q.path, strings.NewReader(q.body))
	r.Header.Set("Authorization", "Bearer "+h.token)
	for i := 0; i < len(q.header); i += 2 {
		r.Header.Set(q.header[i], q.header[i+1])
	}
	return r
}

// discardResponse is a reusable http.ResponseWriter that keeps only the status and the size.
type discardResponse struct {
	header http.Header
	status int
	bytes  int
}

func (s *discardResponse) Header() http.Header { return s.header }
func (s *discardResponse) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}
func (s *discardResponse) WriteHeader(status int) { s.status = status }

// repeatable returns a function that sends the request. It allocates nothing itself.
func (h *testServer) repeatable(t testing.TB, q testRequest) func() {
	t.Helper()
	original := h.request(context.Background(), q)
	w, body := &discardResponse{header: http.Header{}}, bytes.NewReader([]byte(q.body))
	r, closer := *original, io.NopCloser(body)
	send := func() {
		clear(w.header)
		w.status, w.bytes = 200, 0
		r = *original
		body.Reset([]byte(q.body))
		if r.Body = http.NoBody; q.body != "" {
			r.Body = closer
		}
		h.handler.ServeHTTP(w, &r)
	}
	send()
	send() // fill the caches
	if q.header == nil || q.header[0] != "If-None-Match" {
		require.Equal(t, 200, w.status, q.name)
		require.NotZero(t, w.bytes, q.name)
		h.requireNoErrors(t, q)
	}
	return send
}

// requireNoErrors sends a request once, whose response must not have errors: those of GraphQL have the status 200.
func (h *testServer) requireNoErrors(t testing.TB, q testRequest) {
	t.Helper()
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, h.request(context.Background(), q))
	require.Equal(t, 200, w.Code, q.name)
	require.NotContains(t, w.Body.String(), `"errors":`, q.name)
}

// TestCachedRequestAllocations requires that a repeated request runs no SQL and allocates little,
// through all layers.
func TestCachedRequestAllocations(t *testing.T) {
	h := newDemoServer(t)
	for _, q := range h.cachedRequests() {
		t.Run(q.name, func(t *testing.T) {
			send := h.repeatable(t, q)
			allocations := testing.AllocsPerRun(100, send)
			t.Logf("%v allocations", allocations)
			require.LessOrEqual(t, int(allocations), q.allocations)
			testkit.Eventually(t, 0, func() int { // the poll after a write reads its change once
				ctx, counter := store.CountStatements(t.Context())
				h.handler.ServeHTTP(&discardResponse{header: http.Header{}}, h.request(ctx, q))
				return counter.Count()
			})
		})
	}
}

func BenchmarkCached(b *testing.B) {
	h := newDemoServer(b)
	for _, q := range h.cachedRequests() {
		b.Run(q.name, func(b *testing.B) {
			send := h.repeatable(b, q)
			b.ReportAllocs()
			for b.Loop() {
				send()
			}
		})
	}
}

func TestDefaultLimits(t *testing.T) {
	t.Parallel()
	require.Equal(t, 60_000, limits.Defaults().Cost)
	require.Equal(t, limits.Defaults(), limits.Config{}.OrDefaults())
	c := &Commands{}
	parser, err := cli.Parser(c, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	_, err = parser.Parse([]string{"serve"})
	require.NoError(t, err)
	require.Equal(t, limits.Defaults(), c.Serve.Documents)
	bounds := limits.Config{Tokens: 1, Depth: 2, Cost: 3}.OrDefaults()
	require.Equal(t, []int{1, 2, 3}, []int{bounds.Tokens, bounds.Depth, bounds.Cost})
	require.ErrorContains(t, (&Serve{Documents: limits.Config{Depth: -1}}).Validate(), "--document-depth")
}

func TestFailedExportKeepsTheOldFile(t *testing.T) {
	t.Parallel()
	flags := []string{"--database-url", "file:" + filepath.Join(t.TempDir(), "portico.db"), "--synchronous", "OFF"}
	require.Zero(t, runProgram(t.Context(), append([]string{"import", "internal/demo/shop.ndjson"}, flags...),
		cli.Streams{Out: io.Discard, Err: io.Discard}))
	directory := t.TempDir()
	file := filepath.Join(directory, "shop.ndjson")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, 1, runProgram(ctx, append([]string{"export", file}, flags...), cli.Streams{Out: io.Discard, Err: io.Discard}))
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(kept))
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// TestFrontCacheOfServer sends requests to two servers of one kind, one behind its front cache, and requires the
// same responses, log lines and metrics, but for what caches count of themselves. Then it revokes the client.
func TestFrontCacheOfServer(t *testing.T) {
	t.Parallel()
	query := func(text string) testRequest {
		return testRequest{name: text, method: "POST", path: "/graphql", body: fmt.Sprintf(`{"query":%q}`, text), header: []string{"Content-Type", "application/json"}}
	}
	servers := []*testServer{newDemoServer(t), newDemoServer(t)}
	servers[0].handler = servers[0].front.Middleware(servers[0].handler)
	counted := regexp.MustCompile(`(?m)^portico_(http_requests_total|graphql_[a-z_]*_total|http_request_duration_seconds_count|graphql_operation_duration_seconds_count)\{.*$`)
	var metrics []string
	for _, server := range servers {
		requests := append(server.cachedRequests(), query(`query Page { catalogNode(by: {id: "node-coffee"}) { products(first: 3) { nodes { name stock { available } } } } }`),
			query(`query Lists { stocks(first: 3) { nodes { available } } settings { pageLength } again: settings { currency } }`), query(`{ promotions { totalCount } }`),
			testRequest{name: "stock", method: "GET", path: "/v2/inventories"})
		for _, q := range requests {
			for range 6 {
				w := httptest.NewRecorder()
				server.handler.ServeHTTP(w, server.request(t.Context(), q))
				require.Less(t, w.Code, 400, q.name)
				require.Equal(t, "nosniff", w.Header().Get("X-Content-Type-Options"))
			}
		}
		w := httptest.NewRecorder()
		server.adminHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		client := regexp.MustCompile(`client="[^"]+"`)
		metrics = append(metrics, client.ReplaceAllString(strings.Join(counted.FindAllString(w.Body.String(), -1), "\n"), `client="one"`))
	}
	require.Contains(t, metrics[0], "portico_graphql_fields_total")
	require.Equal(t, metrics[1], metrics[0])
	require.NotZero(t, servers[0].responses.Stats().Hits)

	server, q := servers[0], servers[0].cachedRequests()[0]
	clients, err := server.store.Access.Clients(t.Context())
	require.NoError(t, err)
	for _, client := range clients {
		_, err := server.store.Access.RevokeClient(t.Context(), "test", client.ID)
		require.NoError(t, err)
	}
	w := httptest.NewRecorder()
	server.handler.ServeHTTP(w, server.request(t.Context(), q))
	require.Equal(t, http.StatusUnauthorized, w.Code)
}
