package transport_test

import (
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/document"
	"portico/graph/graphtest"
	"portico/graph/transport"
	"portico/internal/responsecache"
	"portico/store/shop"
	"portico/store/storetest/testkit"
)

// heapAfterGC returns the heap in use after a garbage collection, in bytes.
func heapAfterGC() int {
	for range 2 { // pools are emptied by the second
		runtime.GC()
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return int(memory.HeapAlloc)
}

// The caches of the store and of responses charge the memory of what requests cause: filters,
// searches, languages, cursors and responses.
func TestStoreAndResponseCachesChargeMemory(t *testing.T) { // not in parallel: others allocate too
	if testkit.RaceDetector {
		t.Skip("objects take more memory under the race detector")
	}
	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + t.TempDir() + "/memory.db", Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	graphtest.Load(t, s, graphtest.GeneratedShop(t, 300))
	const byFilter = `query ($filter: ProductFilter) { products(first: 3, filter: $filter) { totalCount nodes { id } } }`
	for name, class := range map[string]struct {
		requests int
		ask      func(i int) (body, language string)
	}{
		"values of a filter": {2_000, func(i int) (string, string) {
			return requestBodyWith(byFilter, graphtest.Variables{"filter": map[string]any{"name": map[string]any{"eq": fmt.Sprint("No such name ", i)}}}), ""
		}},
		"searches": {1_000, func(i int) (string, string) {
			return requestBodyWith(byFilter, graphtest.Variables{"filter": map[string]any{"search": fmt.Sprint("a", i)}}), ""
		}},
		"bounds of ids": {1_000, func(i int) (string, string) {
			return requestBodyWith(byFilter, graphtest.Variables{"filter": map[string]any{"bounds": map[string]any{"id": map[string]any{"ge": fmt.Sprint("id-", i)}}}}), ""
		}},
		"facets": {500, func(i int) (string, string) {
			return requestBodyWith(`query ($filter: ProductFilter) { products(first: 1, filter: $filter) { facets { groups(keys: ["tags"]) { values { value count } } } } }`,
				graphtest.Variables{"filter": map[string]any{"search": fmt.Sprint("a", i)}}), ""
		}},
		"languages": {2_000, func(i int) (string, string) {
			return requestBodyWith(byFilter, nil), fmt.Sprintf("de;q=0.%d, fr;q=0.%d, x-%d", i%9+1, i%7+1, i)
		}},
		"names of nobody": {4_000, func(i int) (string, string) {
			return requestBodyWith(`query ($id: ID!) { product(by: {id: $id}) { id } }`, graphtest.Variables{"id": fmt.Sprint("none-", strings.Repeat("x", 90), i)}), ""
		}},
		"pages with stock": {300, func(i int) (string, string) {
			return requestBodyWith(fmt.Sprintf(`{ a%d: products(first: 20) { nodes { id name stock { available } } } }`, i), nil), ""
		}},
	} {
		t.Run(name, func(t *testing.T) {
			room := responsecache.NewCache(1 << 30)
			cache := document.NewCache(64 << 10) // nearly all leave it, and must leave memory
			handler := graphtest.NewHandler(s, transport.WithDocumentCache(cache), transport.WithResponseCache(room))
			measured := func() (heap, charge int) {
				heap = heapAfterGC()
				_, _, held := s.CacheStats()
				return heap, int(held) + int(room.Stats().Bytes)
			}
			ask := func(i int) {
				body, language := class.ask(i)
				r := graphtest.NewRaw(t, body)
				r.Header.Set("Accept-Language", language)
				w := httptest.NewRecorder()
				handler.ServeHTTP(w, graphtest.As(r, graphtest.Admin()))
				require.NotContains(t, w.Body.String(), `"errors"`, "%.300s", w.Body)
			}
			for i := range 100 {
				ask(i)
			}
			heapBefore, chargeBefore := measured()
			for i := range class.requests {
				ask(100 + i)
			}
			heap, charge := measured()
			heap, charge = heap-heapBefore, charge-chargeBefore
			t.Logf("%d bytes are held, %d charged", heap, charge)
			require.Less(t, float64(heap), 1.5*float64(charge)+400<<10)
			runtime.KeepAlive(handler)
		})
	}
}
