package release_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/release"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestSortOrders tests product lists by name and by price.
func TestSortOrders(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		t.Run("scheduled prices change the order", orderByScheduledPrice(backend))
		t.Run("a cursor keeps the order of its first page", orderPaged(backend))
		t.Run("names are in the order of the catalog's language", orderByName(backend))
	})
}

func orderByScheduledPrice(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := openSalesShop(t, backend, testkit.Noon)
		cheapest, dearest := store.Sort{By: store.SortPrice}, store.Sort{By: store.SortPrice, Descending: true}
		for _, c := range []struct {
			name, at, currency string
			sort               store.Sort
			want               string
		}{
			{"before the sales of noon", "11:59:59.999", "USD", cheapest, "tea dress rare"}, // 1800 4200 -: of the cheapest child
			{"at noon", "12:00:00", "USD", cheapest, "dress rare tea"},                      // 0 5 1500
			{"at noon, the dearest first", "12:00:00", "USD", dearest, "tea rare dress"},
			{"a second later", "12:00:01", "USD", cheapest, "dress tea rare"}, // 0 1500 -
			{"and none is last both ways", "12:00:01", "USD", dearest, "tea dress rare"},
			{"at one", "13:00:00", "USD", cheapest, "tea dress rare"}, // 1600 4200 -
			{"years before", "2001-01-01T00:00:00Z", "USD", cheapest, "tea dress rare"},
			{"years later", "2030-01-01T00:00:00Z", "USD", dearest, "dress tea rare"},
			{"a sale without end", "12:00:00", "EUR", cheapest, "dress tea rare"}, // 100 800 -
			{"no prices at all", "12:00:00", "CHF", cheapest, "dress rare tea"},
			{"no prices at all, descending", "12:00:00", "CHF", dearest, "tea rare dress"},
		} {
			t.Run(c.name, func(t *testing.T) {
				clock.Set(parseTime(t, c.at))
				v := storetest.View(t, s, release.ShopperContext{Currency: c.currency})
				require.Equal(t, strings.Fields(c.want), storetest.ProductIDs(t, v, release.ProductQuery{Sort: c.sort}))
				sku, err := release.NewTerm("sku", "in", []string{"TEA", "RARE", "DRESS"})
				require.NoError(t, err)
				require.Equal(t, strings.Fields(c.want), storetest.ProductIDs(t, v, release.ProductQuery{NodeID: "all", Sort: c.sort, Filter: release.ProductFilter{Terms: []store.Term{sku}}}))
			})
		}
	}
}

func orderPaged(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, clock := openSalesShop(t, backend, testkit.Noon)
		page := func(currency string, p store.Page) (*store.Slice[*release.Product], error) {
			return storetest.View(t, s, release.ShopperContext{Currency: currency}).Products(t.Context(), release.ProductQuery{Sort: store.Sort{By: store.SortPrice}, Page: p})
		}
		clock.Set(parseTime(t, "12:00:00"))
		first, err := page("USD", store.Page{First: new(1)})
		require.NoError(t, err)
		require.Equal(t, "dress", first.Items[0].ID())
		clock.Set(parseTime(t, "12:00:01")) // the order was dress rare tea, and is now dress tea rare
		anew, err := page("USD", store.Page{First: new(1)})
		require.NoError(t, err)
		require.Equal(t, "dress", anew.Items[0].ID())
		next, err := page("USD", store.Page{After: &first.Cursors()[0]})
		require.NoError(t, err)
		require.Equal(t, "rare", next.Items[0].ID())
		require.Equal(t, "tea", next.Items[1].ID())
		require.Len(t, next.Items, 2)
		back, err := page("USD", store.Page{Before: &next.Cursors()[0]})
		require.NoError(t, err)
		require.Equal(t, "dress", back.Items[0].ID())
		_, err = page("USD", store.Page{After: &first.Cursors()[0], Before: &anew.Cursors()[0]})
		require.Error(t, err, "cursors of two orders cannot bound a page")
		require.True(t, store.HasCode(err, store.CursorMismatch))
		_, err = page("EUR", store.Page{After: &first.Cursors()[0]})
		storetest.RequireError(t, err, store.CursorMismatch, "after", "another list")
		clock.Set(parseTime(t, "12:00:00"))
		_, err = page("USD", store.Page{After: &anew.Cursors()[0]})
		storetest.RequireError(t, err, store.CursorExpired, "after", "later time")
	}
}

func orderByName(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		lines := []string{`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`}
		var refs []string
		for id, name := range map[string]string{"a": "Zebra", "b": "ähnlich", "c": "Ahorn", "d": "apfel", "e": "Öl", "f": "Oktant", "g": "Apfel", "h": "Å", "i": "apfel", "j": "10", "k": "9"} {
			lines = append(lines, `{"type":"product","id":"`+id+`","attributes":{"name":"`+name+`","sku":"`+id+`","slug":"`+id+`","status":"live","created_at":"2024-01-01T00:00:00Z"},"relationships":{}}`)
			refs = append(refs, `{"type":"product","id":"`+id+`"}`)
		}
		lines = append(lines, `{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[`+strings.Join(refs, ",")+`]}}}`)
		for locale, want := range map[string]string{
			"de": "j k h b c d i g f e a", // Å and ä sort with a
			"sv": "j k c d i g f a h b e", // Å and ä sort after z
		} {
			t.Run(locale, func(t *testing.T) {
				s := backend.Open(t)
				storetest.Import(t, s, storetest.JoinLines(append(lines, `{"type":"catalog","id":"main","attributes":{"name":"M","hierarchies":["h"],"locale":"`+locale+`","created_at":"2024-01-01T00:00:00Z"}}`)...))
				storetest.Publish(t, s, "main")
				v := storetest.View(t, s, release.ShopperContext{Languages: testkit.Languages("en")})
				require.Equal(t, strings.Fields(want), storetest.ProductIDs(t, v, release.ProductQuery{NodeID: "n", Sort: store.Sort{By: store.SortName}}))
			})
		}
	}
}
