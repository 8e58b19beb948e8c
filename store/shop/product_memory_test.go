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
	v, err := s.Releases.View(t.Context(), release.ShopperContext{})
	require.NoError(t, err)
	heap := func() int {
		for range 2 {
			runtime.GC()
		}
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		return int(memory.HeapAlloc)
	}
	read := func(one func(p *release.Product)) (products, charge int) {
		const entry = 160 // that the cache adds for each
		first := 100
		for offset := 0; offset < v.Release.Products; offset += first {
			page, err := v.Products(t.Context(), release.ProductQuery{Page: store.Page{First: &first, Offset: &offset}})
			require.NoError(t, err)
			for _, p := range page.Items {
				one(p)
				products, charge = products+1, charge+p.Size()+entry
			}
		}
		return products, charge
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
	before := heap()
	for _, c := range []struct {
		by       string
		one      func(p *release.Product)
		at, most float64
	}{
		{"REST", rest, 1, 1.4},
		{"GraphQL", func(p *release.Product) { require.NotEmpty(t, p.Name()) }, 0.9, 1.15},
	} {
		products, charge := read(c.one)
		taken := heap() - before
		t.Logf("%s: a product takes %d bytes, and is charged as %d", c.by, taken/products, charge/products)
		require.Greater(t, float64(charge), c.at*float64(taken), c.by)
		require.Less(t, float64(charge), c.most*float64(taken), c.by)
	}
	runtime.KeepAlive(s)
}
