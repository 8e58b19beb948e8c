package app

import (
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
)

// Benchmarks of requests through all layers, without a network, over a generated shop:
//
//	go test -run - -bench 'Whole|Cold' ./internal/app
//
// PORTICO_TEST_BENCH_PRODUCTS is the number of products; the default is 1000.

// newGeneratedServer returns a server with a generated shop.
func newGeneratedServer(b *testing.B, flags ...string) *testServer {
	b.Helper()
	products, err := strconv.Atoi(cmp.Or(os.Getenv("PORTICO_TEST_BENCH_PRODUCTS"), "1000"))
	require.NoError(b, err)
	path := filepath.Join(b.TempDir(), "shop.ndjson")
	file, err := os.Create(path)
	require.NoError(b, err)
	require.NoError(b, datagen.WriteShop(file, products, 1))
	require.NoError(b, file.Close())
	b.Setenv("PORTICO_TEST_BENCH_SHOP", path)
	return newDemoServer(b, flags...)
}

// BenchmarkWhole measures time and allocations of the most frequent requests.
func BenchmarkWhole(b *testing.B) {
	h := newGeneratedServer(b)
	h.handler = h.front.Middleware(h.handler)
	page := `query Page($id: ID!) { catalogNode(by: {id: $id}) { products(first: 25) { totalCount nodes { uuid sku name slug price { money { amount currency } }
		price { money { formatted } } mainImage { href } files { file { href } } breadcrumbs { ancestors { uuid name } } stock { available } } } } }`
	for _, q := range []testRequest{
		{name: "settings", method: "GET", path: "/v2/settings"},
		{name: "typename", method: "POST", path: "/graphql", body: `{"query":"{ __typename }"}`},
		{name: "page-rest", method: "GET", path: h.nodePagePath(0)},
		{name: "page-graphql", method: "POST", path: "/graphql",
			body: fmt.Sprintf(`{"query":%q,"variables":{"id":%q}}`, strings.Join(strings.Fields(page), " "), h.node)},
		{name: "stock-rest", method: "GET", path: "/v2/inventories?page[limit]=25"},
		{name: "stock-graphql", method: "POST", path: "/graphql",
			body: `{"query":"{ stocks(first: 25) { totalCount nodes { uuid total available allocated } } }"}`},
	} {
		q.header = []string{"Content-Type", "application/json"}
		b.Run(q.name, func(b *testing.B) {
			send := h.repeatable(b, q)
			b.ReportAllocs()
			for b.Loop() {
				send()
			}
		})
	}
}

// BenchmarkCold requests pages that are not cached: a different page each time, in three
// languages, with a small cache. It needs a shop of at least 10,000 products. cpu-µs/op is the CPU of
// the process, which other programs disturb less than time.
func BenchmarkCold(b *testing.B) {
	h := newGeneratedServer(b, "--release-cache-bytes", strconv.Itoa(16<<20), "--response-cache-bytes", "0")
	page := `query Page($id: ID!, $offset: Int) { catalogNode(by: {id: $id}) { products(first: 25, offset: $offset) { totalCount nodes { uuid sku name slug
		price { money { amount currency formatted } } mainImage { href } files { file { href } }
		componentProducts { uuid name } breadcrumbs { ancestors { uuid name } } stock { available } } } } }`
	for name, of := range map[string]func(offset int) testRequest{
		"rest": func(offset int) testRequest { return testRequest{method: "GET", path: h.nodePagePath(offset)} },
		"graphql": func(offset int) testRequest {
			return testRequest{method: "POST", path: "/graphql", body: fmt.Sprintf(`{"query":%q,"variables":{"id":%q,"offset":%d}}`,
				strings.Join(strings.Fields(page), " "), h.node, offset)}
		},
	} {
		b.Run(name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			requests, bodies := make([]*http.Request, 1000), make([]string, 1000)
			for i := range requests {
				q := of(i * 5)
				q.header = []string{"Accept-Language", []string{"en", "fr", "de"}[i%3], "Content-Type", "application/json"}
				requests[i], bodies[i] = h.request(b.Context(), q), q.body
			}
			first := of(0)
			first.header = []string{"Content-Type", "application/json"}
			h.requireNoErrors(b, first)
			w := &discardResponse{header: http.Header{}}
			b.ReportAllocs()
			used := processCPU(b)
			for b.Loop() {
				clear(w.header)
				w.status = http.StatusOK
				n := random.IntN(len(requests))
				requests[n].Body = io.NopCloser(strings.NewReader(bodies[n]))
				h.handler.ServeHTTP(w, requests[n])
				require.Equal(b, http.StatusOK, w.status)
			}
			b.ReportMetric(float64((processCPU(b)-used).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// processCPU is the CPU that this process has used.
func processCPU(b *testing.B) time.Duration {
	var usage syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// nodePagePath is the REST path of a page of 25 products.
func (h *testServer) nodePagePath(offset int) string {
	return fmt.Sprintf("/catalog/nodes/%s/relationships/products?page[limit]=25&page[offset]=%d&include=main_image,files,component_products", h.node, offset)
}
