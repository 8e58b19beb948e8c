package rest_test

import (
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
	"portico/graph/transport"
	"portico/internal/datagen"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/store"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/shop"
)

// These benchmarks read pages through a loopback listener. Next to each runs the baseline: a bare
// net/http handler that writes the same bytes. Compare the two of one run.
//
//	go test -run - -bench . ./rest
//
// PORTICO_TEST_BENCH_PRODUCTS is the number of products; the default is 1000.
// PORTICO_TEST_BENCH_DATABASE is a file that keeps the shop for later runs.

// benchShop opens the shop. It imports the shop if the database is new.
func benchShop(b *testing.B) *testServer {
	b.Helper()
	products := 1000
	if text := os.Getenv("PORTICO_TEST_BENCH_PRODUCTS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		products = n
	}
	path := os.Getenv("PORTICO_TEST_BENCH_DATABASE")
	if path == "" {
		path = b.TempDir() + "/bench.db"
	}
	s, err := shop.Open(b.Context(), shop.Config{URL: "file:" + path})
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	if _, err := s.Releases.View(b.Context(), release.ShopperContext{}); store.HasCode(err, store.NotFound) {
		importGenerated(b, s, products)
	}
	log := slog.New(slog.DiscardHandler)
	resolver := graph.NewResolver(s)
	mux := http.NewServeMux()
	mux.Handle("/graphql", transport.NewHandler(resolver, log))
	mux.Handle("/", rest.New(resolver, problem.Writer(log)).Handler())
	return &testServer{store: s, handler: mux}
}

// importGenerated streams a generated shop into the store.
func importGenerated(b *testing.B, s *shop.Store, products int) {
	b.Helper()
	open := func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(datagen.WriteShop(writer, products, 1)) }()
		return reader, nil
	}
	_, err := s.Exchange.Import(b.Context(), "bench", open, exchange.ImportOptions{})
	require.NoError(b, err)
	ids, err := s.Releases.CatalogIDs(b.Context())
	require.NoError(b, err)
	for _, id := range ids {
		_, err := s.Publisher.Publish(b.Context(), "bench", id, nil)
		require.NoError(b, err)
	}
}

// listen serves a handler on loopback.
func listen(b *testing.B, handler http.Handler) (url string) {
	b.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(b, err)
	server := &http.Server{Handler: handler}
	go server.Serve(listener)
	b.Cleanup(func() { server.Close() })
	return "http://" + listener.Addr().String()
}

// benchRequest is the request of a benchmark.
type benchRequest struct{ method, path, body string }

func (q benchRequest) do(b *testing.B, client *http.Client, url string) []byte {
	r, err := http.NewRequest(q.method, url+q.path, strings.NewReader(q.body))
	require.NoError(b, err)
	r.Header.Set("Content-Type", "application/json")
	answer, err := client.Do(r)
	require.NoError(b, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(b, err)
	require.Equal(b, http.StatusOK, answer.StatusCode, "%s", body)
	require.NotContains(b, string(body[:min(len(body), 40)]), `"errors"`)
	return body
}

// measure times a request and its baseline. Allocations include the client's, which equal the
// baseline's.
func measure(b *testing.B, s *testServer, q benchRequest) {
	url := listen(b, s.as(admin()))
	body := q.do(b, http.DefaultClient, url)
	floor := listen(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = w.Write(body)
	}))
	for _, server := range []struct{ name, url string }{{"portico", url}, {"floor", floor}} {
		b.Run(server.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				q.do(b, http.DefaultClient, server.url)
			}
		})
	}
}

const everyEdge = `{ id uuid sku name slug description price { money { amount currency formatted } }
	tags productTypes createdAt updatedAt mainImage { href fileName } files { file { href fileName } } componentProducts { uuid sku name slug }
	catalogNodes { uuid name } breadcrumbs { ancestors { uuid name } } stock { total available allocated } }`

// longestNode returns the node with the longest list.
func longestNode(b *testing.B, s *testServer) string {
	b.Helper()
	v, err := s.store.Releases.View(b.Context(), release.ShopperContext{})
	require.NoError(b, err)
	first, one, longest, id := store.MaxPageLength, 1, -1, ""
	for page := (store.Page{First: &first}); ; {
		nodes, err := v.Nodes(b.Context(), release.NodeQuery{Page: page})
		require.NoError(b, err)
		for _, node := range nodes.Items {
			slice, err := v.Products(b.Context(), release.ProductQuery{NodeID: node.ID, Page: store.Page{First: &one}})
			require.NoError(b, err)
			if total, _ := slice.Total(b.Context()); total > longest {
				longest, id = total, node.ID
			}
		}
		if !nodes.HasNext {
			return id
		}
		page.After = &nodes.Cursors()[len(nodes.Cursors())-1]
	}
}

func BenchmarkNodeProducts(b *testing.B) {
	s := benchShop(b)
	node := longestNode(b, s)
	for _, limit := range []int{25, 100} {
		b.Run(fmt.Sprintf("rest/%d", limit), func(b *testing.B) {
			measure(b, s, benchRequest{"GET", fmt.Sprintf("/catalog/nodes/%s/relationships/products?page[limit]=%d&include=main_image,files,component_products", node, limit), ""})
		})
		b.Run(fmt.Sprintf("graphql/%d", limit), func(b *testing.B) {
			query := strings.Join(strings.Fields(fmt.Sprintf(`{ catalogNode(by: {id: %q}) { products(first: %d) { totalCount pageInfo { hasNextPage endCursor } nodes %s } } }`, node, limit, everyEdge)), " ")
			measure(b, s, benchRequest{"POST", "/graphql", fmt.Sprintf(`{"query":%q}`, query)})
		})
	}
}

func BenchmarkNodeProductsOffset(b *testing.B) {
	s := benchShop(b)
	node := longestNode(b, s)
	for _, offset := range []int{0, 500, 10000} {
		b.Run(strconv.Itoa(offset), func(b *testing.B) {
			measure(b, s, benchRequest{"GET", fmt.Sprintf("/catalog/nodes/%s/relationships/products?page[offset]=%d", node, offset), ""})
		})
	}
}

func BenchmarkStocks(b *testing.B) {
	s := benchShop(b)
	for _, limit := range []int{25, 100} {
		b.Run(fmt.Sprintf("rest/%d", limit), func(b *testing.B) {
			measure(b, s, benchRequest{"GET", fmt.Sprintf("/v2/inventories?page[limit]=%d", limit), ""})
		})
		b.Run(fmt.Sprintf("graphql/%d", limit), func(b *testing.B) {
			measure(b, s, benchRequest{"POST", "/graphql",
				fmt.Sprintf(`{"query":"{ stocks(first: %d) { totalCount nodes { uuid total available allocated } } }"}`, limit)})
		})
	}
}

// BenchmarkEvery measures the fixed cost of a request.
func BenchmarkEvery(b *testing.B) {
	s := benchShop(b)
	b.Run("settings", func(b *testing.B) { measure(b, s, benchRequest{"GET", "/v2/settings", ""}) })
	b.Run("typename", func(b *testing.B) { measure(b, s, benchRequest{"POST", "/graphql", `{"query":"{ __typename }"}`}) })
}
