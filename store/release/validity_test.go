package release_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestValidity tests what a response cache relies on: Holds returns how long the prices read
// stay valid, and AppendKey separates views that differ.
func TestValidity(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, clock := openSalesShop(t, backend, testkit.Noon.Add(-24*time.Hour))
		at := func(clockTime string) time.Time { return parseTime(t, clockTime) }
		read := func(t *testing.T, read func(*release.View)) (from, until time.Time) {
			v := storetest.View(t, s, release.ShopperContext{})
			read(v)
			from, until, keep := v.Holds()
			require.True(t, keep)
			return from, until
		}
		one := func(id string) func(*release.View) { return func(v *release.View) { storetest.FindProduct(t, v, id) } }
		t.Run("a product's prices", func(t *testing.T) {
			clock.Set(at("12:15:00"))
			from, until := read(t, one("tea"))
			require.Equal(t, at("12:00:00"), from)
			require.Equal(t, at("12:30:00"), until)
		})
		t.Run("several products", func(t *testing.T) {
			clock.Set(at("12:45:00"))
			from, until := read(t, func(v *release.View) { one("dress")(v); one("tea")(v) })
			require.Equal(t, at("12:30:00"), from)
			require.Equal(t, at("13:00:00"), until)
		})
		t.Run("no reads", func(t *testing.T) {
			from, until := read(t, func(*release.View) {})
			require.Zero(t, from)
			require.Zero(t, until)
			_, until = read(t, one("dress-own")) // without a sale
			require.Zero(t, until)
		})
		t.Run("an order by price", func(t *testing.T) {
			clock.Set(at("13:15:00"))
			none := 0
			from, until := read(t, func(v *release.View) {
				_, err := v.Products(t.Context(), release.ProductQuery{Sort: store.Sort{By: store.SortPrice}, Page: store.Page{Offset: &none}})
				require.NoError(t, err)
			})
			require.Equal(t, at("13:00:00"), from)
			require.Equal(t, at("13:30:00"), until)
		})
		t.Run("pages of an old release must not be cached", func(t *testing.T) {
			first, byPrice := 1, store.Sort{By: store.SortPrice} // each release computes this list
			before, err := storetest.View(t, s, release.ShopperContext{}).Products(t.Context(), release.ProductQuery{Sort: byPrice, Page: store.Page{First: &first}})
			require.NoError(t, err)
			page := release.ProductQuery{Sort: byPrice, Page: store.Page{First: &first, After: &before.Cursors()[0]}}
			v := storetest.View(t, s, release.ShopperContext{})
			_, err = v.Products(t.Context(), page)
			require.NoError(t, err)
			_, _, keep := v.Holds()
			require.True(t, keep, "the current release")
			renameTea(t, s, "Black Tea")
			v = storetest.View(t, s, release.ShopperContext{})
			_, err = v.Products(t.Context(), page)
			require.NoError(t, err)
			_, _, keep = v.Holds()
			require.False(t, keep, "the previous release")
		})
		t.Run("AppendKey", func(t *testing.T) {
			key := func(shopper release.ShopperContext) string {
				return string(storetest.View(t, s, shopper).AppendKey(nil))
			}
			plain := key(release.ShopperContext{})
			require.Equal(t, plain, key(release.ShopperContext{AccountID: "acme", CustomerID: "c", Channel: "web", Tags: []string{"x"}, Currency: "USD"}))
			seen := map[string]bool{plain: true}
			for _, other := range []release.ShopperContext{{Currency: "EUR"}, {Languages: testkit.Languages("de")}, {Languages: testkit.Languages("fr-CA")}} {
				require.False(t, seen[key(other)], "%v", other)
				seen[key(other)] = true
			}
			unknown := key(release.ShopperContext{Currency: "QQQ"})
			for _, none := range []string{"QQR", "CHF", "XXX"} {
				require.Equal(t, unknown, key(release.ShopperContext{Currency: none}), "the catalog has no price in %s", none)
			}
			require.Nil(t, storetest.View(t, s, release.ShopperContext{Currency: "QQQ"}).Choice())
			for _, same := range []string{"fr-CA-x-one", "fr-CA-x-two", "fr-CA-u-nu-deva", "fr-CA-fonipa"} {
				require.Equal(t, key(release.ShopperContext{Languages: testkit.Languages("fr-CA")}), key(release.ShopperContext{Languages: testkit.Languages(same)}), "amounts are written alike in %s", same)
			}
			renameTea(t, s, "White Tea")
			require.Equal(t, plain, key(release.ShopperContext{}), "another state of the same catalog")
			served := strconv.FormatInt(storetest.View(t, s, release.ShopperContext{}).Release.ID, 10)
			require.False(t, seen[key(release.ShopperContext{ReleaseID: served})], "a release by its id")
		})
	})
}

// renameTea publishes the shop with another name of its tea.
func renameTea(t *testing.T, s *shop.Store, name string) {
	t.Helper()
	storetest.Import(t, s, strings.ReplaceAll(storetest.SalesShop(), `"name":"Tea"`, `"name":"`+name+`"`))
	_, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
	require.NoError(t, err)
}
