package storetest

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
)

// published is a store with the shop, both of whose catalogs are published.
func OpenPublished(t *testing.T, e Backend, options ...func(*shop.Config)) *shop.Store {
	t.Helper()
	s := e.Open(t, options...)
	Import(t, s, ShopFile)
	Publish(t, s, "main", "outlet")
	return s
}

func Publish(t require.TestingT, s *shop.Store, catalogs ...string) {
	for _, catalog := range catalogs {
		release, err := s.Publish(context.Background(), Actor, catalog, nil)
		require.NoError(t, err, catalog)
		require.Equal(t, catalog, release.CatalogID)
	}
}

func View(t require.TestingT, s *shop.Store, shopper release.ShopperContext) *release.View {
	v, err := s.View(context.Background(), shopper)
	require.NoError(t, err)
	return v
}

// outletView is what a shopper sees whom the rules lead to the outlet.
func OutletView(t require.TestingT, s *shop.Store, shopper release.ShopperContext) *release.View {
	Import(t, s, strings.Replace(ShopLine("catalog_rule", "everyone"), `"main"`, `"outlet"`, 1))
	v := View(t, s, shopper)
	require.Equal(t, "outlet", v.Release.CatalogID)
	return v
}

// listed is a whole list by id, a page after the other; its total must agree.
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

func FindProduct(t require.TestingT, v *release.View, id string) *release.Product {
	found, err := v.Product(context.Background(), release.ProductKey{ID: id})
	require.NoError(t, err, id)
	return found
}

// body is a product's JSON, decoded.
func ProductJSON(t require.TestingT, product *release.Product) (members map[string]any) {
	text := product.AppendJSON(nil)
	require.NoError(t, json.Unmarshal(text, &members), "%s", text)
	return members
}

// dig finds a value by the names that lead to it.
func JSONAt(t require.TestingT, value any, path ...string) any {
	for _, name := range path {
		members, ok := value.(map[string]any)
		require.True(t, ok, "%s of %v", name, path)
		require.Contains(t, members, name)
		value = members[name]
	}
	return value
}
