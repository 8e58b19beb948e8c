package release_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/catalog"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/release/price"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func openSalesShop(t *testing.T, backend storetest.Backend, at time.Time) (*shop.Store, *testkit.Clock) {
	t.Helper()
	clock := testkit.NewClock(at)
	s := backend.Open(t, storetest.WithClock(clock))
	storetest.Import(t, s, storetest.SalesShop())
	_, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
	require.NoError(t, err)
	return s, clock
}

// TestSalePrices checks prices that change with time without a new release, and prices of
// children.
func TestSalePrices(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, clock := openSalesShop(t, backend, testkit.Noon.Add(-24*time.Hour))
		const (
			sales    = "of overlapping sales the shortest wins"
			books    = "the highest price book with a price in that currency"
			currency = "a product without a price is shown without one"
			children = "a child inherits its parent's price through price modifiers"
		)
		for _, c := range []struct {
			source, name, product string
			at                    string // on 2024-05-30 unless it has a date
			currency              string
			want                  string // "price", "price (original) sale until expiry" or "none"
		}{
			// Sales: from its first instant until just before its last; of several the shortest.
			{sales, "one sale", "tea", "11:59:59.999", "USD", "1800 (2000) month until 2024-06-01T00:00:00"},
			{sales, "a shorter one begins", "tea", "12:00:00", "USD", "1500+ (2000) hour until 2024-05-30T13:00:00"},
			{sales, "equally short: the one that began last", "tea", "12:30:00", "USD", "1600 (2000) late hour until 2024-05-30T13:30:00"},
			{sales, "one instant before that", "tea", "12:29:59.999", "USD", "1500+ (2000) hour until 2024-05-30T13:00:00"},
			{sales, "a sale ends at this second", "tea", "13:00:00", "USD", "1600 (2000) late hour until 2024-05-30T13:30:00"},
			{sales, "the longer one is back", "tea", "13:30:00", "USD", "1800 (2000) month until 2024-06-01T00:00:00"},
			{sales, "the last instant of a sale", "tea", "2024-05-31T23:59:59.999Z", "USD", "1800 (2000) month until 2024-06-01T00:00:00"},
			{sales, "no sale any more", "tea", "2024-06-01T00:00:00Z", "USD", "2000"},
			{sales, "no sale yet", "tea", "2024-04-30T23:59:59.999Z", "USD", "2000"},
			{sales, "a sale without an end", "tea", "2030-01-01T00:00:00Z", "USD", "1700 (2000) ever after until nil"},
			{books, "a sale without a schedule, of the book that has the price", "tea", "12:00:00", "EUR", "800+ (900+) low until nil"},
			{currency, "no price in the currency", "tea", "12:00:00", "CHF", "none"},
			{sales, "a price in a sale alone", "rare", "12:00:00.999", "USD", "5 () once until 2024-05-30T12:00:01"},
			{sales, "and none outside it", "rare", "12:00:01", "USD", "none"},
			{sales, "nor before it", "rare", "11:59:59.999", "USD", "none"},
			// Children: a parent's price through modifiers.
			{children, "a parent", "dress", "11:00:00", "USD", "10000"},
			{children, "a child without modifiers", "dress-red-s", "11:00:00", "USD", "10000"},
			{children, "modifiers in order, a missing one passed over", "dress-red-l", "11:00:00", "USD", "9500"},
			{children, "in the parent's sale, not below nothing", "dress-red-l", "12:00:00", "USD", "0 (9500) noon until 2024-05-30T13:00:00"},
			{children, "a modifier that replaces, tax included", "dress-blue-l", "11:00:00", "USD", "4200+"},
			{children, "a modifier that replaces leaves nothing of a sale", "dress-blue-l", "12:00:00", "USD", "4200+"},
			{children, "modifiers without an amount in the currency", "dress-red-l", "11:00:00", "EUR", "8000+"},
			{children, "a price of its own goes before the parent's, unmodified", "dress-own", "12:00:00", "USD", "7700"},
			{children, "and the parent's where it has none in the currency", "dress-own", "12:00:00", "EUR", "100"},
		} {
			t.Run(c.source+": "+c.name, func(t *testing.T) {
				clock.Set(parseTime(t, c.at))
				v := storetest.View(t, s, release.ShopperContext{Currency: c.currency})
				require.Equal(t, c.want, priceText(t, storetest.FindProduct(t, v, c.product)))
			})
		}
		t.Run("tiers of sales", func(t *testing.T) {
			for at, want := range map[string]string{ // base tiers that are lower remain
				"2024-04-01T00:00:00Z": "pair 2: 1950, box 10: 1900, crate 100: 1300", "12:00:00": "pair 2: 1400", "13:00:00": "crate 100: 1300",
			} {
				clock.Set(parseTime(t, at))
				requireTiers(t, storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "tea"), want)
			}
			clock.Set(parseTime(t, "11:00:00"))
			requireTiers(t, storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "dress-red-l"), "two 2: 8500")
			clock.Set(parseTime(t, "05:00:00"))
			requireTiers(t, storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "dress"), "two 2: 9000, six 6: 8800")
			child := storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "dress-red-l")
			require.Equal(t, "9000 (9500) dawn until 2024-05-30T06:00:00", priceText(t, child))
			requireTiers(t, child, "two 2: 8500, six 6: 8300")
		})
		t.Run("tiers of sales survive export and import", func(t *testing.T) {
			var file, again strings.Builder
			_, err := s.Exchange.Export(t.Context(), &file, exchange.ExportOptions{})
			require.NoError(t, err)
			require.Contains(t, file.String(), `"tiers":{"six":{"minimum_quantity":6,"amount":8800}}`)
			url := backend.BlankURL(t)
			other := backend.Open(t, func(config *shop.Config) { config.URL = url })
			storetest.Import(t, other, file.String())
			_, err = other.Exchange.Export(t.Context(), &again, exchange.ExportOptions{})
			require.NoError(t, err)
			require.Equal(t, file.String(), again.String())
		})
		t.Run("a view keeps its time", func(t *testing.T) {
			clock.Set(parseTime(t, "12:00:00"))
			v := storetest.View(t, s, release.ShopperContext{})
			clock.Set(parseTime(t, "13:00:00"))
			require.Contains(t, priceText(t, storetest.FindProduct(t, v, "tea")), "hour until")
			require.Contains(t, priceText(t, storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "tea")), "late hour until")
		})
	})
}

// TestProductsOnSale compares the filters by sale with PricesOf around each edge of a sale, and requires that a response
// holds as long as the list does.
func TestProductsOnSale(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, clock := openSalesShop(t, backend, testkit.Noon.Add(-24*time.Hour))
		onSale := func(wanted bool) release.ProductFilter {
			return release.ProductFilter{Terms: []store.Term{release.NewSaleTerm(wanted)}}
		}
		not, err := release.NewNot(onSale(true))
		require.NoError(t, err)
		read := func(shopper release.ShopperContext, query release.ProductQuery) []string {
			v := storetest.View(t, s, shopper)
			query.Unlisted = true
			found := storetest.ProductIDs(t, v, query)
			from, until, keep := v.Holds()
			require.True(t, keep)
			require.False(t, v.Now().Before(from))
			require.True(t, until.IsZero() || v.Now().Before(until))
			return found
		}
		seen := map[string]bool{}
		check := func(t *testing.T) {
			for _, code := range []string{"USD", "EUR", "CHF", "QQQ"} {
				shopper := release.ShopperContext{Currency: code}
				v := storetest.View(t, s, shopper)
				every, err := v.Products(t.Context(), release.ProductQuery{Unlisted: true})
				require.NoError(t, err)
				prices, err := v.PricesOf(t.Context(), every.Items)
				require.NoError(t, err)
				wanted := map[bool][]string{true: {}, false: {}}
				for i, p := range every.Items {
					wanted[prices[i].OnSale] = append(wanted[prices[i].OnSale], p.ID())
				}
				seen[fmt.Sprint(wanted[true])] = true
				require.Equal(t, wanted[true], read(shopper, release.ProductQuery{Filter: onSale(true)}), code)
				require.Equal(t, wanted[false], read(shopper, release.ProductQuery{Filter: onSale(false)}), code)
				require.Equal(t, wanted[false], read(shopper, release.ProductQuery{Filter: release.ProductFilter{AnyOf: []release.AnyOf{not}}}), code)
				require.Empty(t, read(shopper, release.ProductQuery{Filter: release.ProductFilter{Terms: []store.Term{release.NewSaleTerm(true), release.NewSaleTerm(false)}}}))
			}
		}
		for _, at := range []string{"2024-04-30T23:59:59.999Z", "2024-05-01T00:00:00Z", "04:59:59.999", "05:00:00", "06:00:00", "11:59:59.999", "12:00:00", "12:00:00.999", "12:00:01", "12:30:00", "13:00:00", "13:30:00", "2024-05-31T23:59:59.999Z", "2024-06-01T00:00:00Z", "2030-01-01T00:00:00Z"} {
			clock.Set(parseTime(t, at))
			t.Run(at, check)
		}
		require.Greater(t, len(seen), 3)
		t.Run("a response holds until a sale begins or ends", func(t *testing.T) {
			clock.Set(parseTime(t, "12:45:00"))
			v := storetest.View(t, s, release.ShopperContext{})
			storetest.ProductIDs(t, v, release.ProductQuery{Unlisted: true, Filter: release.ProductFilter{AnyOf: []release.AnyOf{not}}})
			from, until, _ := v.Holds()
			require.Equal(t, [2]time.Time{parseTime(t, "12:30:00"), parseTime(t, "13:00:00")}, [2]time.Time{from, until})
		})
		t.Run("no sale moves a product between pages", func(t *testing.T) {
			clock.Set(parseTime(t, "12:59:59"))
			query := release.ProductQuery{Unlisted: true, Filter: onSale(true)}
			want := read(release.ShopperContext{}, query)
			require.Greater(t, len(want), 2)
			var got []string
			for query.Page.First = new(1); len(got) < len(want); clock.Advance(time.Minute) {
				slice, err := storetest.View(t, s, release.ShopperContext{}).Products(t.Context(), query)
				require.NoError(t, err)
				require.Len(t, slice.Items, 1)
				got, query.Page.After = append(got, slice.Items[0].ID()), &slice.Cursors()[0]
			}
			require.Equal(t, want, got)
			query.Page = store.Page{}
			require.NotEqual(t, want, read(release.ShopperContext{}, query), "a list that begins later")
		})
		t.Run("a delta", func(t *testing.T) {
			clock.Set(parseTime(t, "12:15:00"))
			sold := strings.ReplaceAll(storetest.SalesShop(), `"sku":"RARE","currencies":{},"sales":{"once":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T12:00:01Z"}`, `"sku":"RARE","currencies":{},"sales":{"once":{"schedule":{"valid_from":"2024-05-30T12:10:00Z","valid_to":"2024-05-30T12:30:00Z"}`)
			before := read(release.ShopperContext{}, release.ProductQuery{Filter: onSale(true)})
			require.NotContains(t, before, "rare")
			term, err := release.NewTerm("sku", "in", []string{"TEA", "RARE"})
			require.NoError(t, err)
			paged := release.ProductQuery{Unlisted: true, Filter: release.ProductFilter{Terms: []store.Term{term}}, Page: store.Page{First: new(1)}}
			slice, err := storetest.View(t, s, release.ShopperContext{}).Products(t.Context(), paged)
			require.NoError(t, err)
			paged.Page.After = &slice.Cursors()[0]
			storetest.Import(t, s, sold)
			_, err = s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
			require.NoError(t, err)
			require.ElementsMatch(t, append(before, "rare"), read(release.ShopperContext{}, release.ProductQuery{Filter: onSale(true)}))
			check(t)
			prices, err := storetest.View(t, s, release.ShopperContext{}).PriceRangeOfNodes(t.Context(), []string{""}, paged)
			require.NoError(t, err)
			require.Equal(t, &release.PriceRange{Min: 1500, Max: 1500}, prices[""], "those of now, in the release of the cursor")
		})
	})
}

// parseTime parses a time of 2024-05-30, or a time with a date.
func parseTime(t *testing.T, text string) time.Time {
	t.Helper()
	if !strings.Contains(text, "T") {
		text = "2024-05-30T" + text + "Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(t, err)
	return at
}

// priceText returns a product's price as text, with + for an amount that includes tax. It
// checks that the typed members equal the JSON.
func priceText(t *testing.T, p *release.Product) string {
	t.Helper()
	members := storetest.ProductJSON(t, p)
	meta := members["meta"].(map[string]any)
	amount := func(price *price.Price) string {
		if price == nil {
			return ""
		}
		if price.IncludesTax {
			return fmt.Sprint(price.Minor) + "+"
		}
		return fmt.Sprint(price.Minor)
	}
	original := testkit.JSONAt(t, members, "meta", "original_price")
	if p.OriginalPrice() == nil {
		require.Nil(t, original)
		require.Nil(t, meta["original_display_price"])
	} else {
		code := p.OriginalPrice().Money().Currency
		require.Equal(t, fmt.Sprint(p.OriginalPrice().Minor), fmt.Sprintf("%.0f", testkit.JSONAt(t, members, "meta", "original_price", code, "amount")))
		require.NotNil(t, meta["original_display_price"])
	}
	if p.SaleID() == nil {
		require.Empty(t, meta["sale_id"])
		require.Nil(t, meta["sale_expires"])
		if p.Price() == nil {
			require.Nil(t, meta["display_price"])
			return "none"
		}
		return amount(p.Price())
	}
	require.Equal(t, *p.SaleID(), meta["sale_id"])
	expires := "nil"
	if at := p.SaleExpires(); at != nil {
		expires = at.Format("2006-01-02T15:04:05")
		require.Equal(t, expires+".000", meta["sale_expires"])
	} else {
		require.Nil(t, meta["sale_expires"])
	}
	return fmt.Sprintf("%s (%s) %s until %s", amount(p.Price()), amount(p.OriginalPrice()), *p.SaleID(), expires)
}

func requireTiers(t *testing.T, p *release.Product, want string) {
	t.Helper()
	members := storetest.ProductJSON(t, p)
	var tiers []string
	for _, tier := range p.Tiers() {
		tiers = append(tiers, fmt.Sprintf("%s %d: %s", tier.Name, tier.MinimumQuantity, fmt.Sprint(tier.Price.Minor)))
		require.EqualValues(t, tier.MinimumQuantity, testkit.JSONAt(t, members, "attributes", "tiers", tier.Name, "minimum_quantity"))
		require.Equal(t, fmt.Sprint(tier.Price.Minor), fmt.Sprintf("%.0f", testkit.JSONAt(t, members, "attributes", "tiers", tier.Name, "price", "USD", "amount")))
		require.Contains(t, fmt.Sprint(testkit.JSONAt(t, members, "meta", "tiers", tier.Name, "display_price")), tier.Price.Money().Formatted)
	}
	require.Equal(t, want, strings.Join(tiers, ", "))
	require.Len(t, testkit.JSONAt(t, members, "attributes", "tiers"), len(tiers))
	require.Len(t, testkit.JSONAt(t, members, "meta", "tiers"), len(tiers))
}

// TestVariants checks what parents and their children show of each other.
func TestVariants(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s, _ := openSalesShop(t, backend, testkit.Noon)
		v := storetest.View(t, s, release.ShopperContext{})
		parent := storetest.FindProduct(t, v, "dress")
		t.Run("variations and options in sort order", func(t *testing.T) {
			require.Equal(t, "Colour: Blue Red; Size: S L", variationsText(parent.Variations()))
			require.Empty(t, parent.ChildVariations())
			require.Nil(t, testkit.JSONAt(t, storetest.ProductJSON(t, parent), "meta", "variations").([]any)[0].(map[string]any)["option"])
		})
		t.Run("options of a child", func(t *testing.T) {
			child := storetest.FindProduct(t, v, "dress-red-l")
			require.Empty(t, child.Variations())
			require.Equal(t, "Colour=Red: Blue Red; Size=L: S L", variationsText(child.ChildVariations()))
			require.Equal(t, "Colour=Blue: Blue Red", variationsText(storetest.FindProduct(t, v, "dress-own").ChildVariations()), "which has no size")
		})
		t.Run("variation matrix", func(t *testing.T) {
			members := storetest.ProductJSON(t, parent)
			require.Equal(t, map[string]any{"red": map[string]any{"s": "dress-red-s", "l": "dress-red-l"}, "blue": map[string]any{"l": "dress-blue-l"}}, testkit.JSONAt(t, members, "meta", "variation_matrix"))
			require.Equal(t, []any{[]any{"blue", "l"}, []any{"red", "s"}, []any{"red", "l"}}, testkit.JSONAt(t, members, "meta", "child_option_ids"), "by colour, then size")
			require.Equal(t, []string{"dress-blue-l", "dress-own", "dress-red-s", "dress-red-l"}, parent.ChildIDs(), "by colour, then size; a child without a size is last of its colour")
		})
		t.Run("existing modifiers in order", func(t *testing.T) {
			child := storetest.FindProduct(t, v, "dress-red-l")
			require.Equal(t, []string{"large", "no such modifier", "off"}, child.PriceModifiers())
			var names []string
			for _, m := range child.Modifiers(v) {
				names = append(names, fmt.Sprintf("%s %s %s", m.Name, m.ModifierType, fmt.Sprint(m.Amounts[0].Minor)))
			}
			require.Equal(t, []string{"large price_increment 500", "off price_decrement 1000"}, names)
			shown := testkit.JSONAt(t, storetest.ProductJSON(t, child), "meta", "price_modifiers").(map[string]any)
			require.Equal(t, []string{"large", "off"}, slices.Sorted(maps.Keys(shown)))
			require.Empty(t, storetest.FindProduct(t, v, "rare").Modifiers(v), "not a child")
		})
	})
}

// variationsText returns variations as text.
func variationsText(list []catalog.Variation) string {
	var lines []string
	for _, v := range list {
		line := v.Name
		if v.Option != nil {
			line += "=" + v.Option.Name
		}
		line += ":"
		for _, option := range v.Options {
			line += " " + option.Name
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// Children with the options of a sibling are among the variant options, as many as child_option_ids has.
func TestVariantOptionsOfSiblings(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		s := backend.Open(t)
		const product = `{"type":"product","id":"%s","attributes":{"name":"Cap","sku":"%[1]s","slug":"%[1]s","status":"live"%s},"relationships":{%s}}`
		lines := []string{fmt.Sprintf(product, "cap", `,"base_product":true,"variations":[{"id":"size","name":"Size","sort_order":1,"options":[{"id":"s","name":"S","description":"","sort_order":1},{"id":"l","name":"L","description":"","sort_order":2}]}]`, "")}
		for id, options := range map[string]string{"f": `["l"]`, "e": `["s"]`, "d": `["l"]`, "c": `[]`, "b": `["s"]`, "a": `["s"]`} {
			lines = append(lines, fmt.Sprintf(product, id, `,"options":`+options, `"parent":{"data":{"type":"product","id":"cap"}}`))
		}
		storetest.Import(t, s, storetest.JoinLines(append(lines,
			`{"type":"hierarchy","id":"h","attributes":{"name":"H"}}`,
			`{"type":"node","id":"n","attributes":{"name":"N"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"h"}},"products":{"data":[{"type":"product","id":"cap"}]}}}`,
			`{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["h"],"pricebook_ids":[]}}`)...))
		storetest.Publish(t, s, "main")
		parent := storetest.FindProduct(t, storetest.View(t, s, release.ShopperContext{}), "cap")
		require.Equal(t, []string{"a", "b", "e", "d", "f", "c"}, parent.ChildIDs())
		require.Equal(t, []release.VariantOptions{{UUID: "a", OptionUUIDs: []string{"s"}}, {UUID: "b", OptionUUIDs: []string{"s"}}, {UUID: "e", OptionUUIDs: []string{"s"}},
			{UUID: "d", OptionUUIDs: []string{"l"}}, {UUID: "f", OptionUUIDs: []string{"l"}}}, parent.VariantOptions())
		require.Len(t, testkit.JSONAt(t, storetest.ProductJSON(t, parent), "meta", "child_option_ids"), 5)
	})
}
