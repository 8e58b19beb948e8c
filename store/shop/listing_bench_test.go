package shop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/release/segment"
	"portico/store/shop"
)

// BenchmarkListings reads pages of 25 of the largest category, with all that is below it. "first" is a page that no cache
// of results has; its sort keys, prices and ids are in memory.
//
//	PORTICO_TEST_BENCH_PRODUCTS=100000 go test ./store/shop -run - -bench Listings -benchmem
func BenchmarkListings(b *testing.B) {
	s := openShop(b, shop.Config{StockBytes: 64 << 20})
	require.NoError(b, s.Stock.Warm(b.Context()))
	view := func() *release.View {
		v, err := s.Releases.View(b.Context(), release.ShopperContext{})
		require.NoError(b, err)
		return v
	}
	tree, err := view().Tree(b.Context())
	require.NoError(b, err)
	var largest *segment.CatalogNode
	for _, node := range tree.Nodes {
		if node.Kind == segment.KindNode && (largest == nil || len(tree.Below([]string{node.ID})) > len(tree.Below([]string{largest.ID}))) {
			largest = node
		}
	}
	read := func(query release.ProductQuery) []*release.Product {
		query.NodeID, query.Descendants = largest.ID, true
		slice, err := view().Products(b.Context(), query)
		require.NoError(b, err)
		return slice.Items
	}
	inStock := release.ProductFilter{InStock: new(true)}
	slice, err := view().Products(b.Context(), release.ProductQuery{NodeID: largest.ID, Descendants: true})
	require.NoError(b, err)
	total, err := slice.Total(b.Context())
	require.NoError(b, err)
	for _, c := range []struct {
		name  string
		query release.ProductQuery
	}{
		{"descendants", release.ProductQuery{}},
		{"descendants from the middle", release.ProductQuery{Page: store.Page{Offset: new(min(store.MaxOffset, total/2))}}},
		{"descendants by price", release.ProductQuery{Sort: store.Sort{By: store.SortPrice}}},
		{"parents", release.ProductQuery{Variants: release.VariantsParents}},
		{"children by price", release.ProductQuery{Variants: release.VariantsChildren, Sort: store.Sort{By: store.SortPrice}}},
		{"in stock", release.ProductQuery{Filter: inStock}},
		{"parents in stock", release.ProductQuery{Variants: release.VariantsParents, Filter: inStock}},
	} {
		read(c.query)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				read(c.query)
			}
			b.ReportMetric(float64(total), "products")
		})
	}
	var parents []*release.Product
	children := 0
	for offset := 0; len(parents) < 25 && offset < min(total, store.MaxOffset); offset += 100 {
		for _, p := range read(release.ProductQuery{Page: store.Page{First: new(100), Offset: new(offset)}}) {
			if n := len(p.ChildIDs()); n > 0 && len(parents) < 25 {
				parents, children = append(parents, p), children+n
			}
		}
	}
	for name, cold := range map[string]bool{"price ranges": false, "price ranges, first": true} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				v := view()
				if cold {
					v = release.Uncached(v, v.Release)
				}
				_, err := v.PricesOf(b.Context(), parents)
				require.NoError(b, err)
			}
			b.ReportMetric(float64(children), "children")
		})
	}
}
