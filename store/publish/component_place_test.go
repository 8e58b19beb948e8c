package publish_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// Components of a product are found by the places that are stored with it: a delta that gives a component another place
// writes its bundles again.
func TestComponentPlaces(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t, func(c *shop.Config) { c.NoCache = true })
		storetest.Import(t, s, strings.ReplaceAll(storetest.ShopFile, `{"type":"product","id":"drill-draft"},{"type":"product","id":"frame"}]`,
			`{"type":"product","id":"easel-oak"},{"type":"product","id":"frame"}]`))
		storetest.Publish(t, s, "main")
		require.Zero(t, componentLookUps(t, s, "kit"))
		storetest.Import(t, s, storetest.ChangedShopLine("product", "easel", `"name":"Wood"`, `"name":"Timber"`))
		storetest.Publish(t, s, "main")
		require.NotZero(t, storetest.View(t, s, release.ShopperContext{}).Release.BaseID)
		require.Zero(t, componentLookUps(t, s, "kit"), "easel-oak has another place")
		c := newRandomShop(t, s, testkit.Seed(t))
		for range testkit.QuickOrFull(10, 60) {
			c.step(t)
			storetest.Publish(t, s, "main")
			for _, id := range c.products {
				require.Zero(t, componentLookUps(t, s, id), "after %v", c.done)
			}
		}
	})
}

// componentLookUps returns the number of statements that look components of a product up by id. It
// requires that they are the products with their ids.
func componentLookUps(t *testing.T, s *shop.Store, id string) (count int) {
	t.Helper()
	v := storetest.View(t, s, release.ShopperContext{})
	found, err := v.ProductsByID(t.Context(), []string{id})
	require.NoError(t, err)
	p := found[id]
	if p == nil || len(p.ComponentProductIDs()) == 0 {
		return 0
	}
	want := componentTexts(t, storetest.View(t, s, release.ShopperContext{}), p.ComponentProductIDs())
	ctx, counter := store.CountStatements(t.Context())
	_, err = v.ProductsByID(ctx, p.ComponentProductIDs(), p)
	require.NoError(t, err)
	require.Equal(t, want, componentTexts(t, v, p.ComponentProductIDs(), p))
	for _, query := range counter.Queries() {
		if strings.Contains(query, "release_place") {
			count++
		}
	}
	return count
}

// componentTexts returns products by their ids as REST shows them.
func componentTexts(t *testing.T, v *release.View, ids []string, by ...*release.Product) map[string]string {
	t.Helper()
	products, err := v.ProductsByID(t.Context(), ids, by...)
	require.NoError(t, err)
	texts := map[string]string{}
	for id, p := range products {
		texts[id] = string(p.AppendJSON(nil))
	}
	return texts
}
