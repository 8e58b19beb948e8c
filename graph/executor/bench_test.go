package executor_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/graph/graphtest"
	"portico/graph/transport"
	"portico/internal/datagen"
	"portico/internal/responsecache"
	"portico/store"
	"portico/store/shop"
)

// storefrontPage is the query of a category page.
const storefrontPage = `query Page($node: ID!, $offset: Int) { catalogNode(by: {id: $node}) { name products(first: 25, offset: $offset) { totalCount nodes {
	id uuid name sku slug description commodityType manufacturerPartNum upcEan tags productTypes createdAt updatedAt locale
	price { money { amount currency formatted } } originalPrice { money { formatted } }
	mainImage { href width height } files { attachedAt file { uuid href mimeType } }
	components { key name min max options { uuid quantity } } componentProducts { uuid name }
	breadcrumbs { catalogNode { uuid name slug } ancestors { uuid name slug } }
	stock { available allocated total updatedAt } } } } }`

// BenchmarkExecutors calls the handler without a network. PORTICO_TEST_BENCH_PRODUCTS is the size of
// the shop; default: 1000.
func BenchmarkExecutors(b *testing.B) {
	s := benchShop(b)
	for _, c := range []struct {
		name, query string
		values      graphtest.Variables
		least       int // bytes of a response
	}{
		{"typename", `{ __typename }`, nil, 30},
		{"page", storefrontPage, graphtest.Variables{"node": nodeWithProducts(b, s)}, 25 * 1000},
		{"stocks", `{ stocks(first: 25) { nodes { uuid available allocated total } } }`, nil, 25 * 80},
	} {
		for name, options := range map[string][]transport.Option{"plan": nil, "gqlgen": {transport.WithoutPlans()}, "kept": {transport.WithResponseCache(responsecache.NewCache(64 << 20))}} {
			handler := graphtest.NewHandler(s, options...)
			post := graphtest.As(graphtest.NewPost(b, c.query, c.values), graphtest.Admin())
			body, err := io.ReadAll(post.Body)
			require.NoError(b, err)
			b.Run(c.name+"/"+name, func(b *testing.B) {
				first := httptest.NewRecorder()
				post.Body = io.NopCloser(strings.NewReader(string(body)))
				handler.ServeHTTP(first, post)
				require.Equal(b, http.StatusOK, first.Code)
				require.NotContains(b, first.Body.String(), `"errors"`)
				require.GreaterOrEqual(b, first.Body.Len(), c.least)
				b.ReportAllocs()
				w := &discardingResponse{header: http.Header{}}
				for b.Loop() {
					clear(w.header)
					w.bytes = 0
					post.Body = io.NopCloser(strings.NewReader(string(body)))
					handler.ServeHTTP(w, post)
				}
				require.Equal(b, first.Body.Len(), w.bytes)
				b.SetBytes(int64(w.bytes))
			})
		}
	}
}

// discardingResponse is a response whose body is dropped.
type discardingResponse struct {
	header http.Header
	bytes  int
}

func (d *discardingResponse) Header() http.Header { return d.header }
func (d *discardingResponse) WriteHeader(int)     {}
func (d *discardingResponse) Write(body []byte) (int, error) {
	d.bytes += len(body)
	return len(body), nil
}

// benchShop opens a generated shop.
func benchShop(b *testing.B) *shop.Store {
	b.Helper()
	products := 1000
	if text := os.Getenv("PORTICO_TEST_BENCH_PRODUCTS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		products = n
	}
	s, err := shop.Open(b.Context(), shop.Config{URL: "file:" + b.TempDir() + "/bench.db", StockBytes: 64 << 20})
	require.NoError(b, err)
	b.Cleanup(func() { s.Close() })
	var shop strings.Builder
	require.NoError(b, datagen.WriteShop(&shop, products, 1))
	graphtest.Load(b, s, shop.String())
	require.NoError(b, s.Stock.Warm(b.Context())) // as servers start
	return s
}

// nodeWithProducts returns a node with at least 25 products.
func nodeWithProducts(b *testing.B, s *shop.Store) string {
	b.Helper()
	service := graphtest.Serve(s)
	w := httptest.NewRecorder()
	service.Handler.ServeHTTP(w, graphtest.As(graphtest.NewPost(b, `{ catalogNodes(first: 100) { nodes { uuid products(first: 1) { totalCount } } } }`, nil), graphtest.Admin()))
	for _, part := range strings.Split(w.Body.String(), `{"uuid":"`)[1:] {
		uuid, rest, _ := strings.Cut(part, `"`)
		if count, _ := strconv.Atoi(strings.Trim(rest[strings.LastIndex(rest, ":")+1:], "}],\n")); count >= 25 {
			return uuid
		}
	}
	b.Fatal("no node has a page of products: " + w.Body.String()[:500])
	return ""
}

// slowStatements waits after each statement, as a remote database does.
type slowStatements struct{ store.QueryStats }

// Statement implements store.Observer.
func (*slowStatements) Statement(context.Context, string, time.Time, int64, error) {
	time.Sleep(2 * time.Millisecond)
}

// BenchmarkRootFields runs ten root fields that each read a database which is 2 ms away.
func BenchmarkRootFields(b *testing.B) {
	s := benchShop(b)
	var query strings.Builder
	for i := range 10 {
		fmt.Fprintf(&query, "f%d: promotionCode(code: \"none-%d\") { code } ", i, i)
	}
	handler := graphtest.NewHandler(s)
	post := graphtest.As(graphtest.NewPost(b, "{ "+query.String()+"}", nil), graphtest.Admin())
	body, err := io.ReadAll(post.Body)
	require.NoError(b, err)
	post = post.WithContext(store.WithObserver(post.Context(), &slowStatements{}))
	for b.Loop() {
		post.Body = io.NopCloser(strings.NewReader(string(body)))
		handler.ServeHTTP(&discardingResponse{header: http.Header{}}, post)
	}
}
