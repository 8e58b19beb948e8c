package transport_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/document"
	"portico/graph/graphtest"
	"portico/graph/transport"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// memoryClass makes requests of one kind, no two of them equal.
type memoryClass struct {
	requests int
	request  func(i int) string // its body
}

// requestBody returns the body of a request without variables.
func requestBody(query string) string { return requestBodyWith(query, nil) }

func requestBodyWith(query string, values graphtest.Variables) string {
	body, _ := json.Marshal(map[string]any{"query": query, "variables": values})
	return string(body)
}

// spreadDeeply returns a short document that selects 2^depth objects of documentFamily.
func spreadDeeply(alias string, depth int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{ %s: product(by: {sku: "mother"}) { ...F0 } }`, alias)
	for level := range depth {
		edge := []string{"children", "parent"}[level%2]
		fmt.Fprintf(&b, " fragment F%d on Product { a: %s { ...F%d } b: %s { ...F%d } }", level, edge, level+1, edge, level+1)
	}
	fmt.Fprintf(&b, " fragment F%d on Product { id sku name slug }", depth)
	return b.String()
}

var memoryClasses = map[string]memoryClass{
	"small documents": {2_000, func(i int) string { return requestBody(fmt.Sprintf("{ s%d: settings { currency } }", i)) }},
	"large documents": {20, func(i int) string {
		return requestBody(fmt.Sprintf("{ s%d: products(first: 1) { nodes { %s } } %s }", i, graphtest.Many(450, " a#: name"), graphtest.Many(300, " l#: settings { currency locale pageLength }")))
	}},
	"many aliases": {30, func(i int) string {
		return requestBody(fmt.Sprintf("{ s%d: settings { %s } }", i, graphtest.Many(450, " alias#: currency")))
	}},
	"many root fields": {30, func(i int) string {
		return requestBody(fmt.Sprintf("{ s%d: __typename %s }", i, graphtest.Many(400, " alias#: settings { currency pageLength }")))
	}},
	"many fragments": {50, func(i int) string {
		return requestBody(fmt.Sprintf("{ s%d: settings { %s } } %s", i, graphtest.Many(100, " ...F#"), graphtest.Many(100, " fragment F# on Settings { a#: currency pageLength }")))
	}},
	"fragments that are spread deeply": {200, func(i int) string { return requestBody(spreadDeeply(fmt.Sprint("s", i), 6)) }},
	"many Booleans": {300, func(i int) string {
		values := graphtest.Variables{}
		var defined, fields strings.Builder
		for bit := range 12 {
			fmt.Fprintf(&defined, "$c%d: Boolean! ", bit)
			fmt.Fprintf(&fields, " c%d: currency @include(if: $c%d) p%d: pageLength @skip(if: $c%d)", bit, bit, bit, bit)
			values[fmt.Sprint("c", bit)] = i>>bit&1 == 1
		}
		return requestBodyWith(fmt.Sprintf("query (%s) { settings { %s } }", &defined, &fields), values)
	}},
	"values in the document": {300, func(i int) string {
		return requestBody(fmt.Sprintf(`{ p%d: products(first: 1, filter: {sku: {in: ["a", "b", "%d"]}, name: {eq: "\u0041 %d"}}) { totalCount } nodes(ids: ["a", "b", "c", "d"]) { id } }`, i, i, i))
	}},
	"comments": {100, func(i int) string {
		return requestBody(fmt.Sprintf("{ s%d: settings { currency %s } }", i, strings.Repeat(" #\n #comment\n pageLength", 40)))
	}},
	"variables": {500, func(i int) string {
		skus := []any{}
		for n := range 30 {
			skus = append(skus, fmt.Sprint("sku-", n))
		}
		return requestBodyWith(`query ($filter: ProductFilter, $after: String, $first: Int) { products(first: $first, after: $after, filter: $filter) { totalCount } }`,
			graphtest.Variables{"first": 1, "filter": map[string]any{"sku": map[string]any{"in": skus}, "name": map[string]any{"eq": fmt.Sprint("name ", i)}}})
	}},
	"what nothing reads": {300, func(i int) string {
		return fmt.Sprintf(`{"query":"{ settings { currency } }","variables":{"none":[%s0]},"extensions":{"n":[%s%d]}}`, strings.Repeat("{},", 1000), strings.Repeat("{},", 1000), i)
	}},
	"names": {1_000, func(i int) string {
		query := fmt.Sprintf("{ s%d: settings { currency } }", i)
		return fmt.Sprintf(`{"query":%q,"extensions":{"persistedQuery":{"version":1,"sha256Hash":%q}}}`, query, document.Hash(query))
	}},
	"mutations": {500, func(i int) string {
		return requestBody(fmt.Sprintf(`mutation { s%d: settingsUpdate(input: {}) { settings { currency pageLength } } }`, i))
	}},
	"introspection": {20, func(i int) string {
		return requestBody(strings.Replace(introspections["GraphiQL"], "__schema {", fmt.Sprintf("s%d: __schema {", i), 1))
	}},
}

// TestDocumentCacheChargesMemory requires that the cache charges what its entries take, within a
// factor of 1.5. What an earlier class left may be freed during a measurement, so one that is out
// of bounds is repeated twice.
func TestDocumentCacheChargesMemory(t *testing.T) { // not in parallel: others allocate too
	shops, err := shop.Open(t.Context(), shop.Config{URL: "file:" + t.TempDir() + "/memory.db", Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, shops.Close()) })
	graphtest.Load(t, shops, documentFamily(1))
	for name, class := range memoryClasses {
		t.Run(name, func(t *testing.T) {
			var heap, charge float64
			for range 3 {
				heap, charge = measureDocuments(t, shops, class.requests, class.request)
				t.Logf("%.0f bytes are held, %.0f charged", heap, charge)
				if heap < 1.5*charge && charge < 1.5*heap {
					return
				}
			}
			t.Errorf("%.0f bytes are held, %.0f charged", heap, charge)
		})
	}
}

// measureDocuments sends requests to a handler with an empty cache of documents. It returns how
// much the heap and the cache's charge grew, in bytes.
func measureDocuments(t *testing.T, shops *shop.Store, requests int, request func(i int) string) (heap, charge float64) {
	t.Helper()
	cache := document.NewCache(1 << 30)
	handler := graphtest.NewHandler(shops, transport.WithDocumentCache(cache))
	send := func(i int) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, graphtest.As(graphtest.NewRaw(t, request(i)), graphtest.Admin()))
		require.Equal(t, 200, w.Code, "%.300s", w.Body)
		require.NotContains(t, w.Body.String(), `"errors"`, "%.300s", w.Body)
	}
	measure := func() (heap, charge float64) {
		_, _, bytes := cache.Stats()
		return float64(heapAfterGC()), float64(bytes)
	}
	for i := range 5 {
		send(i)
	}
	heapBefore, chargeBefore := measure()
	for i := range requests {
		send(5 + i)
	}
	heap, charge = measure()
	runtime.KeepAlive(handler)
	return heap - heapBefore, charge - chargeBefore
}

// A short document with nested fragments takes memory for its text, not for the fields that it
// selects.
func TestFragmentsAreCompiledOnce(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := graphtest.Open(t, e, documentFamily(1))
		bytes := func(depth int) int {
			cache := document.NewCache(1 << 30)
			handler := graphtest.NewHandler(s.Store, transport.WithDocumentCache(cache))
			asked := &graphtest.Service{Store: s.Store, Handler: handler, Log: s.Log}
			a := asked.Post(t, spreadDeeply("s", depth), nil)
			require.Empty(t, a.Errors, "%.300s", a.Body)
			require.Equal(t, 1<<depth, strings.Count(string(a.Data), `"sku"`))
			_, _, bytes := cache.Stats()
			return bytes
		}
		step := bytes(4) - bytes(2)
		require.InDelta(t, step, bytes(6)-bytes(4), float64(step)/4)
	})
}

// The plans of a document with other Booleans each time stay within the budget, in measured
// memory.
func TestCachedPlansStayWithinTheBudget(t *testing.T) { // not in parallel: others allocate too
	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + t.TempDir() + "/memory.db", Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	graphtest.Load(t, s, documentFamily(1))
	const budget = 1 << 20
	cache := document.NewCache(budget)
	handler := graphtest.NewHandler(s, transport.WithDocumentCache(cache))
	ask := func(i int) {
		fields := graphtest.Many(60, " f#: sku @include(if: $a) g#: name @skip(if: $b) h#: slug @include(if: $c) i#: id @skip(if: $d)")
		query := fmt.Sprintf(`query ($a: Boolean!, $b: Boolean!, $c: Boolean!, $d: Boolean!) { p%d: product(by: {sku: "mother"}) { uuid ...F children { ...F parent { ...F } } } } fragment F on Product { %s }`, i/16, fields)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, graphtest.As(graphtest.NewRaw(t, requestBodyWith(query, graphtest.Variables{"a": i&1 > 0, "b": i&2 > 0, "c": i&4 > 0, "d": i&8 > 0})), graphtest.Admin()))
		require.NotContains(t, w.Body.String(), `"errors"`, "%.300s", w.Body)
	}
	ask(0)
	before := heapAfterGC()
	for i := range testkit.QuickOrFull(20*16, 160*16) {
		ask(i)
	}
	heap := heapAfterGC() - before
	entries, _, bytes := cache.Stats()
	t.Logf("%d entries of %d bytes; the heap grew by %d", entries, bytes, heap)
	require.LessOrEqual(t, bytes, budget)
	require.Greater(t, bytes, budget*3/4)
	require.Less(t, heap, budget*3/2)
	require.Greater(t, heap, budget/2)
	runtime.KeepAlive(handler)
}
