package release_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestProductLists compares filters, sorts and pages of View.Products with a model, on a small
// shop and on one with lists of more than 1,000 products (10,000 in the full tests). It also
// counts SQL statements.
func TestProductLists(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("small shop", func(t *testing.T) {
			h := newModelShop(t, backend, storetest.ShopFile+familyLines(), "main", func(config *shop.Config) { config.NoCache = true })
			t.Run("random queries match the model", productsMatchModel(h))
			t.Run("random searches match the model", searchesMatchModel(h))
			t.Run("several languages", func(t *testing.T) {
				h := *h
				h.model = h.withLanguages("fr", "zh-Hant")
				h.searchIn(t)
				t.Run("random searches match the model", searchesMatchModel(&h))
				t.Run("random queries match the model", productsMatchModel(&h))
				t.Run("random facets match the model", facetsMatchModel(&h))
				t.Run("random groups match the model", groupsMatchModel(&h))
			})
			t.Run("random facets match the model", facetsMatchModel(h))
			t.Run("paging returns each product once", productsPaged(h))
			t.Run("paging by key returns each product once", productsByKey(h))
			t.Run("page bounds", productPages(h))
			t.Run("a cursor belongs to one list, sort and filter", productCursors(h))
		})
		t.Run("large shop", func(t *testing.T) {
			text := withOwnAttributes(storetest.WithoutStock(storetest.GenerateShop(t, testkit.QuickOrFull(1_300, 11_500), 1)))
			h := newModelShop(t, backend, text, storetest.CatalogID(t, text), func(config *shop.Config) { config.WordBytes = testkit.QuickOrFull(1<<16, 1<<19) }) // several segments
			require.Greater(t, len(h.attached[""]), testkit.QuickOrFull(1_100, 10_100))
			if backend.Name == "sqlite" || testkit.FullTests() { // positions beyond a chunk are computed, independent of the database
				t.Run("random queries match the model", productsMatchModel(h))
				t.Run("random searches match the model", searchesMatchModel(h))
				t.Run("random facets match the model", facetsMatchModel(h))
				t.Run("random groups match the model", groupsMatchModel(h))
				t.Run("paging returns each product once", productsPaged(h))
			}
			t.Run("statements do not depend on the number of products", productStatements(backend, h))
			t.Run("statements do not depend on the number of nodes", nodeStatements(h))
			t.Run("cached reads run no statements", productsCached(h))
			t.Run("no read scans a table", readPlans(backend, h))
		})
	})
}

// withOwnAttributes gives products of a shop brands and weights, declared after them.
func withOwnAttributes(text string) string {
	var b strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		if n++; storetest.LineType(line) == "product" && n%3 > 0 {
			line = strings.Replace(line, `"attributes":{`, fmt.Sprintf(`"attributes":{"custom_attributes":{"brand":"Brand %d","weight":%v},`, n%7, float64(n%500-100)/8), 1)
		}
		b.WriteString(line)
	}
	return b.String() + storetest.JoinLines(storetest.ShopLine("attribute", "brand"), storetest.ShopLine("attribute", "weight"))
}

func productsMatchModel(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			v := storetest.View(t, h.Store, h.shopper())
			query := h.drawQuery(t)
			want := h.list(query)
			start, end := h.drawPage(t, v, &query, len(want))
			slice, err := v.Products(t.Context(), query)
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, len(want), total)
			requireItems(t, h, query, want[start:end], slice)
			require.Equal(t, end < total, slice.HasNext, "next")
			require.Equal(t, start > 0, slice.HasPrevious, "previous")
			if start < total {
				require.Equal(t, start, slice.Offset)
			}
		})
	}
}

func requireItems(t require.TestingT, h *modelShop, query release.ProductQuery, want []*modelProduct, slice *store.Slice[*release.Product]) {
	var wanted, got []string
	for _, product := range want {
		wanted = append(wanted, product.id)
	}
	for _, product := range slice.Items {
		got = append(got, product.ID())
		require.Equal(t, slices.Contains(h.exchanged(h.curated[query.NodeID], query), product.ID()), product.Curated, "curated: %s", product.ID())
	}
	require.Equal(t, wanted, got)
	require.Len(t, slice.Cursors(), len(got))
}

func productsPaged(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, h.Store, release.ShopperContext{})
		rapid.Check(t, func(t *rapid.T) {
			query := h.drawQuery(t)
			want := h.list(query)
			beginning := len(want) > 3000 // enough
			if beginning {
				want = want[:3000]
			}
			limit := rapid.IntRange(max(1, len(want)/30), 100).Draw(t, "limit")
			forwards := query
			forwards.Page = store.Page{First: &limit}
			for at := 0; at < len(want); {
				slice, err := v.Products(t.Context(), forwards)
				require.NoError(t, err)
				require.NotEmpty(t, slice.Items)
				end := min(len(want), at+len(slice.Items))
				requireItems(t, h, query, want[at:end], cut(slice, end-at))
				forwards.Page.After, at = &slice.Cursors()[len(slice.Cursors())-1], end
			}
			if beginning {
				return
			}
			backwards := query
			backwards.Page = store.Page{Last: &limit}
			for at := len(want); at > 0; {
				slice, err := v.Products(t.Context(), backwards)
				require.NoError(t, err)
				require.NotEmpty(t, slice.Items)
				requireItems(t, h, query, want[at-len(slice.Items):at], slice)
				backwards.Page.Before, at = &slice.Cursors()[0], at-len(slice.Items)
			}
		})
	}
}

func cut(slice *store.Slice[*release.Product], n int) *store.Slice[*release.Product] {
	shorter := *slice
	shorter.Items = slice.Items[:n]
	return &shorter
}

// productsByKey pages by key ranges instead of cursors: each page starts at the last value of
// the previous one.
func productsByKey(h *modelShop) func(*testing.T) {
	return func(t *testing.T) {
		v := storetest.View(t, h.Store, release.ShopperContext{})
		query := release.ProductQuery{Sort: store.Sort{By: store.SortID}, Page: store.Page{First: new(2)}}
		var seen []string
		for {
			slice, err := v.Products(t.Context(), query)
			require.NoError(t, err)
			if len(slice.Items) == 0 {
				break
			}
			for _, product := range slice.Items {
				seen = append(seen, product.ID())
			}
			beyond, err := store.NewRange("id", "gt", seen[len(seen)-1])
			require.NoError(t, err)
			query.Filter.Ranges = []store.Range{beyond}
		}
		require.Equal(t, slices.Sorted(slices.Values(h.attached[""])), seen)
	}
}
