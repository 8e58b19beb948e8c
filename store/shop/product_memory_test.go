package shop_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// TestProductsAreChargedTheirMemory: the cache charges for products what they take once GraphQL has read
// them, which is a third more than for REST.
func TestProductsAreChargedTheirMemory(t *testing.T) { // not in parallel: others allocate too
	s := openShop(t, shop.Config{CacheBytes: 1 << 30})
	v, err := s.View(t.Context(), release.ShopperContext{})
	require.NoError(t, err)
	measured := func() (heap, charge int) {
		_, _, bytes := s.CacheStats()
		for range 2 {
			runtime.GC()
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return int(memory.HeapAlloc), int(bytes)
	}
	products := 0
	read := func(one func(p *release.Product)) {
		products = 0
		first := 100
		for offset := 0; offset < v.Release.Products; offset += first {
			page, err := v.Products(t.Context(), release.ProductQuery{Page: store.Page{First: &first, Offset: &offset}})
			require.NoError(t, err)
			for _, p := range page.Items {
				one(p)
				products++
			}
		}
	}
	rest := func(p *release.Product) {
		ids := []string{p.MainImageID()}
		for _, link := range p.FileLinks() {
			ids = append(ids, link.ID)
		}
		of := make([]*release.Product, len(ids))
		for i := range of {
			of[i] = p
		}
		_, err := v.FilesOf(t.Context(), ids, of)
		require.NoError(t, err)
	}
	v.Reads = nil
	_, err = v.Tree(t.Context())
	require.NoError(t, err)
	heapBefore, chargeBefore := measured()
	for _, c := range []struct {
		by       string
		one      func(p *release.Product)
		at, most float64
	}{
		{"REST", rest, 1, 1.5},
		{"GraphQL", func(p *release.Product) { require.NotEmpty(t, p.Name()) }, 0.9, 1.15},
	} {
		read(c.one)
		heap, charge := measured()
		heap, charge = (heap-heapBefore)/products, (charge-chargeBefore)/products
		t.Logf("%s: a product takes %d bytes, and is charged as %d", c.by, heap, charge)
		require.Greater(t, float64(charge), c.at*float64(heap), c.by)
		require.Less(t, float64(charge), c.most*float64(heap), c.by)
	}
	runtime.KeepAlive(s)
}
