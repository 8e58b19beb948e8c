package release_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/shop"
	"portico/store/storetest"
)

// TestValidity is the promise to those who keep what a view showed: Holds is right
// about the prices that were read, and AppendKey tells apart views that show
// something else.
func TestValidity(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, clock := salesAt(t, backend, storetest.Noon.Add(-24*time.Hour))
		at := func(clockTime string) time.Time { return moment(t, clockTime) }
		read := func(t *testing.T, read func(*release.View)) (from, until time.Time) {
			v := storetest.View(t, s, release.ShopperContext{})
			read(v)
			from, until, keep := v.Holds()
			require.True(t, keep)
			return from, until
		}
		one := func(id string) func(*release.View) { return func(v *release.View) { storetest.FindProduct(t, v, id) } }
		t.Run("a product's prices hold from edge to edge", func(t *testing.T) {
			clock.Set(at("12:15:00"))
			from, until := read(t, one("tea"))
			require.Equal(t, at("12:00:00"), from)
			require.Equal(t, at("12:30:00"), until)
		})
		t.Run("of several products the nearest edges count", func(t *testing.T) {
			clock.Set(at("12:45:00"))
			from, until := read(t, func(v *release.View) { one("dress")(v); one("tea")(v) })
			require.Equal(t, at("12:30:00"), from)
			require.Equal(t, at("13:00:00"), until)
		})
		t.Run("nothing that was read holds for ever", func(t *testing.T) {
			from, until := read(t, func(*release.View) {})
			require.Zero(t, from)
			require.Zero(t, until)
			_, until = read(t, one("dress-own")) // which is in no sale
			require.Zero(t, until)
		})
		t.Run("an order by price holds as long as all prices do", func(t *testing.T) {
			clock.Set(at("13:15:00"))
			none := 0
			from, until := read(t, func(v *release.View) {
				_, err := v.Products(t.Context(), release.ProductQuery{Sort: store.Sort{By: store.SortPrice}, Page: store.Page{Offset: &none}})
				require.NoError(t, err)
			})
			require.Equal(t, at("13:00:00"), from)
			require.Equal(t, at("13:30:00"), until)
		})
		t.Run("what a cursor led out of is not to be kept", func(t *testing.T) {
			first := 1
			before, err := storetest.View(t, s, release.ShopperContext{}).Products(t.Context(), release.ProductQuery{Page: store.Page{First: &first}})
			require.NoError(t, err)
			page := release.ProductQuery{Page: store.Page{First: &first, After: &before.Cursors()[0]}}
			v := storetest.View(t, s, release.ShopperContext{})
			_, err = v.Products(t.Context(), page)
			require.NoError(t, err)
			_, _, keep := v.Holds()
			require.True(t, keep, "in the release that is served")
			renameTea(t, s, "Black Tea")
			v = storetest.View(t, s, release.ShopperContext{})
			_, err = v.Products(t.Context(), page)
			require.NoError(t, err)
			_, _, keep = v.Holds()
			require.False(t, keep, "in the one before")
		})
		t.Run("a key names what decides, and no shopper", func(t *testing.T) {
			key := func(shopper release.ShopperContext) string {
				return string(storetest.View(t, s, shopper).AppendKey(nil))
			}
			plain := key(release.ShopperContext{})
			require.Equal(t, plain, key(release.ShopperContext{AccountID: "acme", CustomerID: "c", Channel: "web", Tags: []string{"x"}, Currency: "USD"}))
			seen := map[string]bool{plain: true}
			for _, other := range []release.ShopperContext{{Currency: "EUR"}, {Locale: "de"}, {Locale: "fr-CA"}} {
				require.False(t, seen[key(other)], "%v", other)
				seen[key(other)] = true
			}
			renameTea(t, s, "White Tea")
			require.False(t, seen[key(release.ShopperContext{})], "another release")
		})
	})
}

// renameTea publishes the shop with another name for its tea.
func renameTea(t *testing.T, s *shop.Store, name string) {
	t.Helper()
	storetest.Import(t, s, strings.ReplaceAll(storetest.SalesShop(), `"name":"Tea"`, `"name":"`+name+`"`))
	_, err := s.Publish(t.Context(), storetest.Actor, "main", nil)
	require.NoError(t, err)
}
