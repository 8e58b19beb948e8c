package main

import (
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
)

// BenchmarkHot is what a request costs within the server, all of its layers
// and no network: time, and allocations.
//
//	go test -run - -bench Hot .
func BenchmarkHot(b *testing.B) {
	handler, token, node := benchServer(b, 0)
	page := `query Page($id: ID!) { catalogNode(id: $id) { products(first: 25) { totalCount nodes { uuid sku name slug price { amount currency }
		displayPrice { withoutTax { formatted } } mainImage { href } files { file { href } } breadcrumbs { ancestors { uuid name } } stock { available } } } } }`
	for _, c := range []struct{ name, method, path, body string }{
		{"settings", "GET", "/v2/settings", ""},
		{"typename", "POST", "/graphql", `{"query":"{ __typename }"}`},
		{"page-rest", "GET", "/catalog/nodes/" + node + "/relationships/products?page[limit]=25&include=main_image,files,component_products", ""},
		{"page-graphql", "POST", "/graphql", fmt.Sprintf(`{"query":%q,"variables":{"id":%q}}`, strings.Join(strings.Fields(page), " "), node)},
		{"stock-rest", "GET", "/v2/inventories?page[limit]=25", ""},
		{"stock-graphql", "POST", "/graphql", `{"query":"{ stocks(first: 25) { totalCount nodes { uuid total available allocated } } }"}`},
	} {
		b.Run(c.name, func(b *testing.B) {
			body := &sentBody{text: c.body}
			r := httptest.NewRequest(c.method, c.path, body)
			r.ContentLength = int64(len(c.body))
			r.Header.Set("Authorization", "Bearer "+token)
			r.Header.Set("Content-Type", "application/json")
			w := &unsent{header: http.Header{}}
			ask := func() {
				clear(w.header)
				w.status, w.bytes = http.StatusOK, 0
				body.Reset(body.text)
				handler.ServeHTTP(w, r)
			}
			ask() // what is kept is kept now
			require.Equal(b, http.StatusOK, w.status)
			require.Positive(b, w.bytes)
			b.SetBytes(int64(w.bytes))
			b.ReportAllocs()
			for b.Loop() {
				ask()
			}
		})
	}
}

// BenchmarkCold is a page that is not in memory, all of it by REST: another
// one each time, with memory for few. PORTICO_BENCH_DATABASE is a database
// with a large shop.
func BenchmarkCold(b *testing.B) {
	handler, token, node := benchServer(b, 16<<20)
	w := &unsent{header: http.Header{}}
	random := rand.New(rand.NewPCG(1, 1))
	requests := make([]*http.Request, 1000)
	for i := range requests {
		requests[i] = httptest.NewRequest("GET", fmt.Sprintf("/catalog/nodes/%s/relationships/products?page[limit]=25&page[offset]=%d&include=main_image,files,component_products", node, i*5), nil)
		requests[i].Header.Set("Authorization", "Bearer "+token)
		requests[i].Header.Set("Accept-Language", []string{"en", "fr", "de"}[i%3])
	}
	b.ReportAllocs()
	for b.Loop() {
		clear(w.header)
		handler.ServeHTTP(w, requests[random.IntN(len(requests))])
	}
	require.Positive(b, w.bytes)
}

// benchServer is the server's handler over a generated shop, a token for all
// of it, and the node with the most products of the first page of nodes.
func benchServer(b *testing.B, cacheBytes uint64) (handler http.Handler, token, node string) {
	b.Helper()
	command := &serve{TokenIssuer: "portico"}
	command.DatabaseURL, command.Synchronous = "file:"+b.TempDir()+"/bench.db", "OFF"
	command.KeyFile, command.CacheBytes = b.TempDir()+"/bench.key", cacheBytes
	database := os.Getenv("PORTICO_BENCH_DATABASE")
	if database != "" {
		command.DatabaseURL, command.SealKey = "file:"+database, "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
	}
	app, err := command.open(b.Context(), slog.New(slog.NewJSONHandler(io.Discard, nil)))
	require.NoError(b, err)
	b.Cleanup(func() { app.store.Close() })
	if database == "" {
		fillBench(b, app.store)
	}
	client, _, err := app.store.CreateClient(b.Context(), "bench", "bench", nil)
	require.NoError(b, err)
	issued, err := app.tokens.Issue(b.Context(), auth.Grant{Type: auth.GrantClientCredentials, ClientID: client.ID, Scopes: client.Scopes})
	require.NoError(b, err)
	return app.handler(), issued.AccessToken, longNode(b, app.store)
}

func fillBench(b *testing.B, s *store.Store) {
	b.Helper()
	generated := func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(store.Generate(writer, 1000, 1)) }()
		return reader, nil
	}
	_, err := s.Import(b.Context(), "bench", generated, store.ImportOptions{})
	require.NoError(b, err)
	catalogs, err := s.CatalogIDs(b.Context())
	require.NoError(b, err)
	_, err = s.Publish(b.Context(), "bench", catalogs[0], nil)
	require.NoError(b, err)
}

// longNode is the node with the most products, of the first page of nodes.
func longNode(b *testing.B, s *store.Store) (id string) {
	b.Helper()
	view, err := s.View(b.Context(), store.ShopperContext{})
	require.NoError(b, err)
	first, longest := store.MaxPageLength, 0
	nodes, err := view.Nodes(b.Context(), store.NodeQuery{Page: store.Page{First: &first}})
	require.NoError(b, err)
	for _, node := range nodes.Items {
		page, err := view.Products(b.Context(), store.ProductQuery{NodeID: node.ID})
		require.NoError(b, err)
		if total, err := page.Total(b.Context()); err == nil && total > longest {
			longest, id = total, node.ID
		}
	}
	return id
}

// sentBody is a body that can be sent again.
type sentBody struct {
	strings.Reader
	text string
}

func (*sentBody) Close() error { return nil }

// unsent counts what an answer would send.
type unsent struct {
	header http.Header
	status int
	bytes  int
}

func (w *unsent) Header() http.Header    { return w.header }
func (w *unsent) WriteHeader(status int) { w.status = status }
func (w *unsent) Write(p []byte) (int, error) {
	w.bytes += len(p)
	return len(p), nil
}
