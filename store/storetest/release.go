package storetest

import (
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// OpenPublished opens a store with the shop and publishes its two catalogs.
func OpenPublished(t *testing.T, backend Backend, options ...func(*shop.Config)) *shop.Store {
	t.Helper()
	s := backend.Open(t, options...)
	Import(t, s, ShopFile)
	Publish(t, s, "main", "outlet")
	return s
}

// Publish publishes catalogs.
func Publish(t require.TestingT, s *shop.Store, catalogs ...string) {
	for _, catalog := range catalogs {
		published, err := s.Publisher.Publish(context.Background(), Actor, catalog, nil)
		require.NoError(t, err, catalog)
		require.Equal(t, catalog, published.CatalogID)
	}
}

// View returns what a shopper sees.
func View(t require.TestingT, s *shop.Store, shopper release.ShopperContext) *release.View {
	v, err := s.Releases.View(context.Background(), shopper)
	require.NoError(t, err)
	return v
}

// OutletView changes the rule for everyone to lead to the outlet, and returns what a shopper
// sees then.
func OutletView(t require.TestingT, s *shop.Store, shopper release.ShopperContext) *release.View {
	Import(t, s, strings.Replace(ShopLine("catalog_rule", "everyone"), `"main"`, `"outlet"`, 1))
	v := View(t, s, shopper)
	require.Equal(t, "outlet", v.Release.CatalogID)
	return v
}

// ShopperCatalog returns the ID of the catalog that a shopper sees.
func ShopperCatalog(t require.TestingT, s *shop.Store, shopper release.ShopperContext) string {
	return View(t, s, shopper).Release.CatalogID
}

// ProductIDs returns the IDs of a whole product list, page by page. Their number must match the
// list's total.
func ProductIDs(t require.TestingT, v *release.View, query release.ProductQuery) []string {
	ids := []string{}
	for query.Page = (store.Page{First: new(100)}); ; {
		slice, err := v.Products(context.Background(), query)
		require.NoError(t, err)
		for _, product := range slice.Items {
			ids = append(ids, product.ID())
		}
		if !slice.HasNext {
			total, err := slice.Total(context.Background())
			require.NoError(t, err)
			require.Len(t, ids, total)
			return ids
		}
		query.Page.After = &slice.Cursors()[len(slice.Cursors())-1]
	}
}

// FindProduct returns a product by its ID.
func FindProduct(t require.TestingT, v *release.View, id string) *release.Product {
	found, err := v.Product(context.Background(), release.ProductKey{ID: id})
	require.NoError(t, err, id)
	return found
}

// ProductJSON returns a product's JSON, decoded.
func ProductJSON(t require.TestingT, product *release.Product) (members map[string]any) {
	text := product.AppendJSON(nil)
	require.NoError(t, json.Unmarshal(text, &members), "%s", text)
	return members
}

// FirstPage returns the name of the first product of a view, and its cursor.
func FirstPage(t require.TestingT, v *release.View) (name, cursor string) {
	slice, err := v.Products(context.Background(), release.ProductQuery{Page: store.Page{First: new(1)}})
	require.NoError(t, err)
	require.Len(t, slice.Items, 1)
	return slice.Items[0].Name(), slice.Cursors()[0]
}

// NextPage reads one product after a cursor.
func NextPage(v *release.View, cursor string) (*store.Slice[*release.Product], error) {
	return v.Products(context.Background(), release.ProductQuery{Page: store.Page{First: new(1), After: &cursor}})
}

// RenameProducts imports the shop with version in front of each product's name.
func RenameProducts(t require.TestingT, s *shop.Store, version string) {
	var lines []string
	for _, line := range ShopLines() {
		if LineType(line) == "product" {
			lines = append(lines, strings.Replace(line, `"attributes":{"name":"`, `"attributes":{"name":"`+version+" ", 1))
		}
	}
	Import(t, s, JoinLines(lines...))
}

// ReorderShop renames the product chalk and the node paints, so that the lists that have them are in
// one order by name for even n, and in another for odd n.
func ReorderShop(t require.TestingT, s *shop.Store, n int) {
	letter := []string{"A", "Z"}[n%2]
	product, node := ShopLine("product", "chalk"), ShopLine("node", "paints")
	for _, line := range []*string{&product, &node} {
		*line = strings.Replace(*line, `"attributes":{"name":"`, `"attributes":{"name":"`+letter, 1)
	}
	Import(t, s, JoinLines(product, node))
}

// AgeBuilds makes the last heartbeat of releases under construction two minutes older.
func AgeBuilds(t *testing.T, db *sql.DB) {
	t.Helper()
	_, err := db.Exec(`UPDATE release SET touched_at = touched_at - 120000000 WHERE state = 'building'`)
	require.NoError(t, err)
}
