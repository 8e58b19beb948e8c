package release_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/storetest"
)

// TestProductMembers checks that products have exactly the members in
// testdata/product_members.golden.
func TestProductMembers(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		text, err := os.ReadFile("testdata/product_members.golden")
		require.NoError(t, err)
		want := strings.Fields(string(text))
		var always []string // members of every product, to the second level
		for _, name := range want {
			if strings.Count(name, ".") < 2 && name != "attributes.curated_product" && !slices.Contains(optionalMembers, name) {
				always = append(always, name)
			}
		}
		s := storetest.OpenPublished(t, backend)
		all := map[string]bool{}
		for _, currency := range []string{"USD", "EUR", "JPY"} {
			v := storetest.View(t, s, release.ShopperContext{Currency: currency})
			slice, err := v.Products(t.Context(), release.ProductQuery{NodeID: "tools"})
			require.NoError(t, err)
			products := slice.Items
			for _, id := range append(storetest.ProductIDs(t, v, release.ProductQuery{}), "easel-oak", "frame") {
				products = append(products, storetest.FindProduct(t, v, id))
			}
			for _, product := range products {
				names := map[string]bool{}
				memberNames("", storetest.ProductJSON(t, product), names)
				maps.Copy(all, names)
				for _, name := range always {
					require.True(t, names[name], "%s has no member %s", product.ID(), name)
				}
				require.Equal(t, product.ParentID() != "", names["attributes.base_product_id"], "%s: base_product_id if it is a child", product.ID())
				require.Equal(t, product.ParentID() != "", names["relationships.parent"], "%s: parent if it is a child", product.ID())
				require.Equal(t, len(product.Components()) > 0, names["attributes.components"], "%s: components if it is a bundle", product.ID())
			}
		}
		require.Equal(t, want, slices.Sorted(maps.Keys(all)))
	})
}

// optionalMembers are present only on bundles and children. Storefronts recognise these by
// them.
var optionalMembers = []string{"attributes.components", "attributes.base_product_id", "relationships.parent"}

// openMembers contain members that the API does not define.
var openMembers = []string{"attributes.components", "attributes.custom_inputs", "attributes.extensions", "attributes.price", "attributes.shopper_attributes",
	"attributes.tiers", "meta.bread_crumbs", "meta.bundle_configuration.selected_options", "meta.child_variations", "meta.component_products", "meta.original_price",
	"meta.original_display_price", "meta.price_modifiers", "meta.tiers", "meta.variation_matrix", "meta.variations"}

func memberNames(path string, value any, into map[string]bool) {
	if path != "" && !strings.HasSuffix(path, "[]") {
		into[path] = true
	}
	if slices.Contains(openMembers, path) {
		return
	}
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			memberNames(strings.TrimPrefix(path+"."+name, "."), member, into)
		}
	case []any:
		for _, item := range value {
			memberNames(path+"[]", item, into)
		}
	}
}
