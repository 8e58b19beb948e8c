package rest_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// cacheablePaths returns paths whose responses depend only on a release.
func cacheablePaths() []string {
	return []string{productsOf("tools"), productsOf("tools") + "?page[limit]=2&page[offset]=2&include=" + allIncludes,
		productsOf("tools") + "?sort=-id&page[limit]=2",
		productsOf("tools") + "?filter=eq(status,live)", "/catalog/products", "/catalog/products/anvil?include=" + allIncludes,
		"/catalog/hierarchies", "/catalog/nodes", "/catalog/nodes/tools"}
}

// TestCachedResponseIsIdentical compares body and headers with the first response.
func TestCachedResponseIsIdentical(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for _, path := range cacheablePaths() {
			for _, headers := range [][]string{nil, {"Accept-Language", "de-AT,de;q=0.8"}, {"X-Moltin-Currency", "EUR"}, clearance} {
				made := s.send(t, "GET", path, "", headers...)
				if made.Code != 200 {
					require.Contains(t, []int{400, 404}, made.Code, "%s", made.Body)
					require.Empty(t, made.Header().Get("Etag"), "errors are not cached")
					continue
				}
				for range 2 {
					kept := s.send(t, "GET", path, "", headers...)
					require.Equal(t, made.Body.String(), kept.Body.String())
					require.Equal(t, made.Header(), kept.Header())
				}
				tag := made.Header().Get("Etag")
				require.Equal(t, 304, s.send(t, "GET", path, "", append([]string{"If-None-Match", tag}, headers...)...).Code)
				head := s.send(t, "HEAD", path, "", headers...)
				require.Equal(t, made.Header(), head.Header())
			}
		}
	})
}

// TestCachedResponseAddsRequestedHeaders requires that a cached response has the headers that this
// request asks for with Prefer.
func TestCachedResponseAddsRequestedHeaders(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		path := productsOf("tools")
		for range 2 {
			require.Empty(t, s.send(t, "GET", path, "").Header().Get("Preference-Applied"))
			why := s.send(t, "GET", path, "", "Prefer", "explain")
			require.Equal(t, "explain", why.Header().Get("Preference-Applied"))
			require.NotEmpty(t, why.Header().Get("Store-Catalog-Resolution"))
			both := s.send(t, "GET", path, "", "Prefer", "explain, graphql")
			require.Equal(t, "explain, graphql", both.Header().Get("Preference-Applied"))
			require.NotEmpty(t, both.Header().Get("Graphql-Request"))
			require.Equal(t, why.Body.String(), both.Body.String())
		}
	})
}

// TestLongResponseIsCompressed requires the same bytes after decompression.
func TestLongResponseIsCompressed(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		plain := s.send(t, "GET", productsOf("tools"), "")
		require.Contains(t, plain.Header().Get("Vary"), "Accept-Encoding")
		small := s.send(t, "GET", productsOf("tools"), "", "Accept-Encoding", "gzip")
		require.Equal(t, "gzip", small.Header().Get("Content-Encoding"))
		reader, err := gzip.NewReader(small.Body)
		require.NoError(t, err)
		text, err := io.ReadAll(reader)
		require.NoError(t, err)
		require.Equal(t, plain.Body.String(), string(text))
	})
}

// TestCachedPageRunsNoStatement covers pages with all included resources.
func TestCachedPageRunsNoStatement(t *testing.T) {
	t.Parallel()
	if responseCacheBytes() == 0 {
		t.Skip("the response cache is off")
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)), func(c *shop.Config) { c.NoCache = true })
		for _, path := range cacheablePaths() {
			if s.send(t, http.MethodGet, path, "").Code == 200 {
				require.Zero(t, statementCount(t, s, http.MethodGet, path, ""), path)
			}
		}
		long := productsOf("tools") + "?filter=in(id," + strings.Repeat("x,", 600) + "anvil)"
		require.NotZero(t, statementCount(t, s, http.MethodGet, long, ""), "long responses are not cached")
	})
}
