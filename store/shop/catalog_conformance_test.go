package shop_test

import (
	"testing"

	"portico/store/storetest"
)

func TestEveryEngineKeepsThePromisesOfCatalogs(t *testing.T) {
	t.Parallel()
	for _, suite := range []struct {
		name string
		run  func(*testing.T, storetest.Engine)
	}{
		{"import", storetest.Import},
		{"faults of imports", storetest.ImportFaults},
		{"imports of what is there", storetest.ImportSame},
		{"imports beside a service", storetest.ImportLive},
		{"export", storetest.Export},
		{"publish", storetest.Publish},
		{"prices", storetest.Prices},
		{"sales", storetest.Sales},
		{"validity", storetest.Validity},
		{"variants", storetest.Variants},
		{"locales", storetest.Locales},
		{"releases", storetest.Releases},
		{"deltas", storetest.Deltas},
		{"filters", storetest.Filters},
		{"products", storetest.Products},
		{"search", storetest.Search},
		{"facets", storetest.Facets},
		{"orders", storetest.Orders},
		{"the members of a product", storetest.ProductMembers("testdata/product_members.golden")},
		{"rules", storetest.Rules},
		{"authoring", storetest.Authoring},
		{"storefronts", storetest.Storefronts},
		{"made-up shops", storetest.MadeUp},
	} {
		t.Run(suite.name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, suite.run)
		})
	}
}
