package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	"portico/store/storetest"
)

// Here is what must look into the program; internal/e2e has it as its users do.
//
// What a request pays is counted at the whole handler, all layers included, and
// measured by the benchmarks:
//
//	go test -run - -bench Hot .
//
// PORTICO_BENCH_SHOP names an import file to measure with, in place of the
// demo's shop.

// hot is a running server without its listener.
type hot struct {
	*app
	handler http.Handler
	token   string
	node    string // with the longest list of products
}

func heat(t testing.TB, flags ...string) *hot {
	t.Helper()
	h := cool(t, flags...)
	a := h.app
	if path := os.Getenv("PORTICO_BENCH_SHOP"); path != "" {
		h.fill(t, path)
	} else {
		require.NoError(t, demo.Fill(t.Context(), a.store))
	}
	require.NoError(t, a.store.WarmStock(t.Context())) // as a server does at its start
	client, _, err := a.store.CreateClient(t.Context(), "test", "test", access.Scopes())
	require.NoError(t, err)
	token, err := a.tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantClientCredentials, ClientID: client.ID, Scopes: client.Scopes, Lifetime: time.Hour})
	require.NoError(t, err)
	h.token = token.AccessToken
	return h
}

// cool is one with nothing in its store.
func cool(t testing.TB, flags ...string) *hot {
	t.Helper()
	url := "file:" + filepath.Join(t.TempDir(), "hot.db")
	c := &commands{}
	parser, err := cli.Parser(c, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	_, err = parser.Parse(append([]string{"serve", "--synchronous", "OFF", "--database-url", url, "--seal-key", strings.Repeat("QUFB", 10) + "QUE="}, flags...))
	require.NoError(t, err)
	lines := accesslog.NewLineWriter(io.Discard)
	a, err := c.Serve.open(t.Context(), accesslog.NewLogger(slog.New(slog.NewJSONHandler(lines, nil))))
	require.NoError(t, err)
	t.Cleanup(func() { a.store.Close() })
	a.lines = lines
	return &hot{app: a, handler: a.handler(), node: "node-coffee"}
}

// fill imports a shop and publishes it.
func (h *hot) fill(t testing.TB, path string) {
	_, err := h.store.Import(t.Context(), "test", func() (io.ReadCloser, error) { return os.Open(path) }, exchange.ImportOptions{})
	require.NoError(t, err)
	ids, err := h.store.CatalogIDs(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		_, err := h.store.Publish(t.Context(), "test", id, nil)
		require.NoError(t, err)
	}
	v, err := h.store.View(t.Context(), release.ShopperContext{})
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

// hotRequest is one that shops are asked again and again.
type hotRequest struct {
	name, method, path, body string
	header                   []string // names and values in turn
	allocations              int      // at most
}

func (h *hot) requests() []hotRequest {
	page := "/catalog/nodes/" + h.node + "/relationships/products?page[limit]=25&include=main_image,files,component_products"
	return []hotRequest{
		{name: "settings", method: "GET", path: "/v2/settings", allocations: 15},
		{name: "typename", method: "POST", path: "/graphql", body: `{"query":"{__typename}"}`, header: []string{"Content-Type", "application/json"}, allocations: 35},
		{name: "page", method: "GET", path: page, allocations: 20},
		{name: "known page", method: "GET", path: page, header: []string{"If-None-Match", h.tag(page)}, allocations: 20},
	}
}

// tag is the entity tag of a page.
func (h *hot) tag(path string) string {
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, h.request(context.Background(), hotRequest{method: "GET", path: path}))
	return cmp.Or(w.Header().Get("Etag"), `"none"`)
}

func (h *hot) request(ctx context.Context, q hotRequest) *http.Request {
	r := httptest.NewRequestWithContext(ctx, q.method, q.path, strings.NewReader(q.body))
	r.Header.Set("Authorization", "Bearer "+h.token)
	for i := 0; i < len(q.header); i += 2 {
		r.Header.Set(q.header[i], q.header[i+1])
	}
	return r
}

// sink takes answers, again and again.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) Write(p []byte) (int, error) {
	s.bytes += len(p)
	return len(p), nil
}
func (s *sink) WriteHeader(status int) { s.status = status }

// again sends a request to the handler as often as it is called.
func (h *hot) again(t testing.TB, q hotRequest) func() {
	t.Helper()
	original := h.request(context.Background(), q)
	w, body := &sink{header: http.Header{}}, bytes.NewReader([]byte(q.body))
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
	send() // everything is warm
	if q.header == nil || q.header[0] != "If-None-Match" {
		require.Equal(t, 200, w.status, q.name)
		require.NotZero(t, w.bytes, q.name)
	}
	return send
}

// TestAHotRequestIsCheap counts what a request that was made before takes:
// allocations of the handler with all layers, and no statement at all.
func TestAHotRequestIsCheap(t *testing.T) {
	h := heat(t)
	for _, q := range h.requests() {
		t.Run(q.name, func(t *testing.T) {
			send := h.again(t, q)
			allocations := testing.AllocsPerRun(100, send)
			t.Logf("%v allocations", allocations)
			require.LessOrEqual(t, int(allocations), q.allocations)
			storetest.Eventually(t, 0, func() int { // the poll after a write reads once more what it changed
				ctx, counter := store.CountStatements(t.Context())
				h.handler.ServeHTTP(&sink{header: http.Header{}}, h.request(ctx, q))
				return counter.Count()
			})
		})
	}
}

func BenchmarkHot(b *testing.B) {
	h := heat(b)
	for _, q := range h.requests() {
		b.Run(q.name, func(b *testing.B) {
			send := h.again(b, q)
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
	c := &commands{}
	parser, err := cli.Parser(c, cli.Streams{Out: io.Discard, Err: io.Discard})
	require.NoError(t, err)
	_, err = parser.Parse([]string{"serve"})
	require.NoError(t, err)
	require.Equal(t, limits.Defaults(), c.Serve.Documents)
	bounds := limits.Config{Tokens: 1, Depth: 2, Cost: 3}.OrDefaults()
	require.Equal(t, []int{1, 2, 3}, []int{bounds.Tokens, bounds.Depth, bounds.Cost})
	require.ErrorContains(t, (&serve{Documents: limits.Config{Depth: -1}}).Validate(), "--document-depth")
}

func TestExportThatFailsLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	flags := []string{"--database-url", "file:" + filepath.Join(t.TempDir(), "portico.db"), "--synchronous", "OFF"}
	require.Zero(t, run(t.Context(), append([]string{"import", "internal/demo/shop.ndjson"}, flags...), cli.Streams{Out: io.Discard, Err: io.Discard}))
	directory := t.TempDir()
	file := filepath.Join(directory, "shop.ndjson")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o644))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.Equal(t, 1, run(ctx, append([]string{"export", file}, flags...), cli.Streams{Out: io.Discard, Err: io.Discard}))
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(kept))
	entries, err := os.ReadDir(directory)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
