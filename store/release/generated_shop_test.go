package release_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestGeneratedShops checks that shops of package datagen import without errors.
func TestGeneratedShops(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("shops of any size", generatedSizes(backend))
		t.Run("a shop has all kinds of resources", generatedResources)
	})
}

func generatedSizes(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := backend.Open(t), backend.SQL(t)
		for _, products := range []int{1, 2, 9, 14, 20, 63, testkit.QuickOrFull(120, 520)} {
			storetest.DeleteAllRows(t, db)
			text := storetest.GenerateShop(t, products, uint64(products))
			report := storetest.Import(t, s, text)
			require.Equal(t, products, report.Resources["product"])
			require.Zero(t, storetest.Import(t, s, text).Changed)
			storetest.Publish(t, s, storetest.CatalogID(t, text))
			want := newModel(t, text, storetest.CatalogID(t, text)).list(release.ProductQuery{})
			require.Len(t, storetest.ProductIDs(t, storetest.View(t, s, release.ShopperContext{}), release.ProductQuery{}), len(want), "of %d products", products)
		}
	}
}

func generatedResources(t *testing.T) {
	const products = 5000
	count := map[string]int{}
	curated, biggest, nodes := 0, 0, 0
	for line := range strings.Lines(storetest.GenerateShop(t, products, 1)) {
		count[storetest.LineType(line)]++
		for name, sign := range map[string]string{"draft": `"status":"draft"`, "bundle": `["bundle"]`, "parent": `["parent"]`, "child": `["child"]`, "translated": `"locales":{`, "EUR": `"EUR":{`, "USD": `"USD":{`} {
			count[name] += strings.Count(line, sign)
		}
		if storetest.LineType(line) == "node" {
			var node modelLine
			require.NoError(t, json.Unmarshal([]byte(line), &node))
			nodes++
			biggest = max(biggest, len(node.Relationships.Products.Data))
			if n := len(node.Attributes.CuratedProducts); n > 0 && n <= 5 {
				curated++
			}
		}
	}
	for kind, want := range map[string]int{"file": products, "product": products, "stock": products, "product-price": products, "hierarchy": 2, "pricebook": 1, "catalog": 1, "catalog_rule": 1,
		"USD": products, "EUR": products / 2, "parent": products / 50, "child": 3 * products / 50} {
		require.Equal(t, want, count[kind], kind)
	}
	for kind, percent := range map[string]float64{"draft": 3, "bundle": 5, "translated": 10} {
		require.InDelta(t, percent, 100*float64(count[kind])/products, 1.5, kind)
	}
	require.Equal(t, nodes, curated, "nodes with curated products")
	require.InDelta(t, 0.6*0.94*products, biggest, 20, "60% of the products except children")
	require.InDelta(t, 10+1+1+4, nodes, 1)
}
