package storetest

import (
	"fmt"

	"github.com/stretchr/testify/require"

	"portico/store/release"
	"portico/store/shop"
)

// rule is a line of a rule that leads to the outlet.
func OutletRuleLine(id, members string) string {
	return fmt.Sprintf(`{"type":"catalog_rule","id":%q,"attributes":{"name":%q,"catalog_id":"outlet",%s"created_at":"2024-01-01T00:00:00.000Z"}}`, id, id, members)
}

// seenBy is the catalog that a shopper sees.
func ShopperCatalog(t require.TestingT, s *shop.Store, shopper release.ShopperContext) string {
	return View(t, s, shopper).Release.CatalogID
}
