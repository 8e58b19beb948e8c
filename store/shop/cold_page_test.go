package shop_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest/testkit"
)

// TestColdPageAllocates limits what a page of products that is not in memory allocates: SQLite's rows are
// not copied, and all texts of a product are one.
func TestColdPageAllocates(t *testing.T) { // not in parallel: others allocate too
	if testkit.RaceDetector {
		t.Skip("the race detector makes pools forget what they hold")
	}
	s := openShop(t, shop.Config{NoCache: true})
	const products = 100
	first := products
	page := func() (bodies int) {
		v, err := s.Releases.View(t.Context(), release.ShopperContext{})
		require.NoError(t, err)
		slice, err := v.Products(t.Context(), release.ProductQuery{Page: store.Page{First: &first}})
		require.NoError(t, err)
		require.Len(t, slice.Items, products)
		for _, p := range slice.Items {
			bodies += p.JSONSize()
		}
		return bodies
	}
	shown := page()
	const pages = 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range pages {
		page()
	}
	runtime.ReadMemStats(&after)
	allocations := float64(after.Mallocs-before.Mallocs) / (pages * products)
	bytes := float64(after.TotalAlloc-before.TotalAlloc) / float64(pages*shown)
	t.Logf("%.1f allocations a product, and %.2f bytes for each byte that the page shows", allocations, bytes)
	require.Less(t, allocations, 18.0)
	require.Less(t, bytes, 2.35)
}
