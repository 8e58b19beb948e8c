package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/catalog"
	"portico/store/exchange"
	"portico/store/release"
	"portico/store/shop"
)

// salesShop has products whose prices change by the clock, and parents whose
// children have theirs. Its times are on 30 May 2024.
const salesShop = `
{"type":"hierarchy","id":"shop","attributes":{"name":"Shop"}}
{"type":"node","id":"all","attributes":{"name":"All"},"relationships":{"hierarchy":{"data":{"type":"hierarchy","id":"shop"}},"products":{"data":[{"type":"product","id":"tea"},{"type":"product","id":"dress"},{"type":"product","id":"rare"}]}}}
{"type":"product","id":"tea","attributes":{"name":"Tea","sku":"TEA","slug":"tea","status":"live","base_product":false,"created_at":"2024-01-01T00:00:00Z"},"relationships":{}}
{"type":"product","id":"rare","attributes":{"name":"Rare","sku":"RARE","slug":"rare","status":"live","base_product":false,"created_at":"2024-01-01T00:00:00Z","price_modifiers":["dearer"]},"relationships":{}}
{"type":"product","id":"dress","attributes":{"name":"Dress","sku":"DRESS","slug":"dress","status":"live","base_product":true,"product_types":["parent"],"created_at":"2024-01-01T00:00:00Z","variations":[
 {"id":"v-size","name":"Size","sort_order":2,"options":[{"id":"s","name":"S","description":"Small","sort_order":0},{"id":"l","name":"L","description":"","sort_order":1}]},
 {"id":"v-colour","name":"Colour","sort_order":1,"options":[{"id":"red","name":"Red","description":"","sort_order":2},{"id":"blue","name":"Blue","description":"","sort_order":1}]}]},"relationships":{}}
{"type":"product","id":"dress-red-s","attributes":{"name":"Dress","sku":"DRESS-RS","slug":"dress-rs","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["s","red"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"product","id":"dress-red-l","attributes":{"name":"Dress","sku":"DRESS-RL","slug":"dress-rl","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["l","red"],"price_modifiers":["large","no such modifier","off"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"product","id":"dress-blue-l","attributes":{"name":"Dress","sku":"DRESS-BL","slug":"dress-bl","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["blue","l"],"price_modifiers":["flat"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"product","id":"dress-own","attributes":{"name":"Dress","sku":"DRESS-OWN","slug":"dress-own","status":"live","base_product":false,"base_product_id":"dress","product_types":["child"],"created_at":"2024-01-01T00:00:00Z","options":["blue"],"price_modifiers":["large","steal"]},"relationships":{"parent":{"data":{"type":"product","id":"dress"}}}}
{"type":"pricebook","id":"low","attributes":{"name":"Low"}}
{"type":"pricebook","id":"high","attributes":{"name":"High"}}
{"type":"product-price","id":"tea-low","attributes":{"sku":"TEA","currencies":{"USD":{"amount":1000,"includes_tax":false},"EUR":{"amount":900,"includes_tax":true}},"sales":{"low":{"schedule":{},"currencies":{"USD":{"amount":1,"includes_tax":false},"EUR":{"amount":800,"includes_tax":true}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"low"}}}}
{"type":"product-price","id":"tea-high","attributes":{"sku":"TEA","currencies":{"USD":{"amount":2000,"includes_tax":false,"tiers":{"box":{"minimum_quantity":10,"amount":1900},"pair":{"minimum_quantity":2,"amount":1950},"crate":{"minimum_quantity":100,"amount":1300}}}},"sales":{
 "month":{"schedule":{"valid_from":"2024-05-01T00:00:00Z","valid_to":"2024-06-01T00:00:00Z"},"currencies":{"USD":{"amount":1800,"includes_tax":false}}},
 "hour":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T13:00:00Z"},"currencies":{"USD":{"amount":1500,"includes_tax":true,"tiers":{"pair":{"minimum_quantity":2,"amount":1400}}}}},
 "late hour":{"schedule":{"valid_from":"2024-05-30T12:30:00Z","valid_to":"2024-05-30T13:30:00Z"},"currencies":{"USD":{"amount":1600,"includes_tax":false}}},
 "ever after":{"schedule":{"valid_from":"2024-07-01T00:00:00Z"},"currencies":{"USD":{"amount":1700,"includes_tax":false}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"high"}}}}
{"type":"product-price","id":"rare-high","attributes":{"sku":"RARE","currencies":{},"sales":{"once":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T12:00:01Z"},"currencies":{"USD":{"amount":5,"includes_tax":false}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"high"}}}}
{"type":"product-price","id":"dress-low","attributes":{"sku":"DRESS","currencies":{"USD":{"amount":10000,"includes_tax":false,"tiers":{"two":{"minimum_quantity":2,"amount":9000}}},"EUR":{"amount":8000,"includes_tax":true}},"sales":{"noon":{"schedule":{"valid_from":"2024-05-30T12:00:00Z","valid_to":"2024-05-30T13:00:00Z"},"currencies":{"USD":{"amount":200,"includes_tax":false}}},"dawn":{"schedule":{"valid_from":"2024-05-30T05:00:00Z","valid_to":"2024-05-30T06:00:00Z"},"currencies":{"USD":{"amount":9500,"includes_tax":false,"tiers":{"six":{"minimum_quantity":6,"amount":8800}}}}}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"low"}}}}
{"type":"product-price","id":"own-low","attributes":{"sku":"DRESS-OWN","currencies":{"USD":{"amount":7700,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"low"}}}}
{"type":"price_modifier","id":"m1","attributes":{"name":"large","modifier_type":"price_increment","currencies":{"USD":{"amount":500,"includes_tax":false}}}}
{"type":"price_modifier","id":"m2","attributes":{"name":"off","modifier_type":"price_decrement","currencies":{"USD":{"amount":1000,"includes_tax":false}}}}
{"type":"price_modifier","id":"m3","attributes":{"name":"flat","modifier_type":"price_equals","currencies":{"USD":{"amount":4200,"includes_tax":true}}}}
{"type":"price_modifier","id":"m4","attributes":{"name":"large","modifier_type":"price_equals","currencies":{"USD":{"amount":1,"includes_tax":false}}}}
{"type":"price_modifier","id":"m5","attributes":{"name":"steal","modifier_type":"price_equals","currencies":{"EUR":{"amount":100,"includes_tax":false}}}}
{"type":"price_modifier","id":"m6","attributes":{"name":"dearer","modifier_type":"price_increment","currencies":{"USD":{"amount":500,"includes_tax":false}}}}
{"type":"catalog","id":"main","attributes":{"name":"Main","hierarchies":["shop"],"pricebook_ids":[{"id":"low","priority":1},{"id":"high","priority":2}],"created_at":"2024-01-01T00:00:00Z"}}
`

// salesFile is the shop with each resource on a line.
func salesFile() string {
	text := strings.ReplaceAll(strings.ReplaceAll(salesShop, ":[\n ", ":["), "},\n ", "},")
	return strings.ReplaceAll(text, "{\n ", "{")
}

func salesAt(t *testing.T, e Engine, at time.Time) (*shop.Store, *Clock) {
	t.Helper()
	clock := NewClock(at)
	s := e.Open(t, At(clock))
	imported(t, s, salesFile())
	_, err := s.Publish(t.Context(), actor, "main", nil)
	require.NoError(t, err)
	return s, clock
}

// Sales is the promise about prices that change by the clock, without a new
// release, and about what children cost (DESIGN 8, Price; issue "Who sees
// what", Prices).
func Sales(t *testing.T, e Engine) {
	s, clock := salesAt(t, e, noon.Add(-24*time.Hour))
	const (
		sales    = "DESIGN 8, of overlapping sales the shortest wins"
		books    = "DESIGN 8, the highest price book with a price in that currency"
		currency = "DESIGN 8, a product without a price is shown without one"
		children = "DESIGN 8, a child inherits its parent's price through price modifiers"
	)
	for _, c := range []struct {
		source, name, product string
		at                    string // on 30 May 2024, unless it has a date
		currency              string
		want                  string // price, or price (original) sale until expiry, or none
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
			clock.Set(moment(t, c.at))
			v := viewOf(t, s, release.ShopperContext{Currency: c.currency})
			require.Equal(t, c.want, saleOf(t, product(t, v, c.product)))
		})
	}
	t.Run("tiers change with the sale", func(t *testing.T) {
		for at, want := range map[string]string{ // the base's stay where they are lower
			"2024-04-01T00:00:00Z": "pair 2: 1950, box 10: 1900, crate 100: 1300", "12:00:00": "pair 2: 1400", "13:00:00": "crate 100: 1300",
		} {
			clock.Set(moment(t, at))
			requireTiers(t, product(t, viewOf(t, s, release.ShopperContext{}), "tea"), want)
		}
		clock.Set(moment(t, "11:00:00"))
		requireTiers(t, product(t, viewOf(t, s, release.ShopperContext{}), "dress-red-l"), "two 2: 8500")
		clock.Set(moment(t, "05:00:00"))
		requireTiers(t, product(t, viewOf(t, s, release.ShopperContext{}), "dress"), "two 2: 9000, six 6: 8800")
		child := product(t, viewOf(t, s, release.ShopperContext{}), "dress-red-l")
		require.Equal(t, "9000 (9500) dawn until 2024-05-30T06:00:00", saleOf(t, child))
		requireTiers(t, child, "two 2: 8500, six 6: 8300")
	})
	t.Run("a sale's own tiers are exported, and imported again", func(t *testing.T) {
		var file, again strings.Builder
		_, err := s.Export(t.Context(), &file, exchange.ExportOptions{})
		require.NoError(t, err)
		require.Contains(t, file.String(), `"tiers":{"six":{"minimum_quantity":6,"amount":8800}}`)
		url := e.Blank(t)
		other := e.Open(t, func(config *shop.Config) { config.URL = url })
		imported(t, other, file.String())
		_, err = other.Export(t.Context(), &again, exchange.ExportOptions{})
		require.NoError(t, err)
		require.Equal(t, file.String(), again.String())
	})
	t.Run("a view keeps its moment", func(t *testing.T) {
		clock.Set(moment(t, "12:00:00"))
		v := viewOf(t, s, release.ShopperContext{})
		clock.Set(moment(t, "13:00:00"))
		require.Contains(t, saleOf(t, product(t, v, "tea")), "hour until")
		require.Contains(t, saleOf(t, product(t, viewOf(t, s, release.ShopperContext{}), "tea")), "late hour until")
	})
}

// moment is a time of 30 May 2024, or any other with its date.
func moment(t *testing.T, text string) time.Time {
	t.Helper()
	if !strings.Contains(text, "T") {
		text = "2024-05-30T" + text + "Z"
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	require.NoError(t, err)
	return at
}

// saleOf writes a product's price on a line, a + for an amount with tax, and
// holds the typed members against the document.
func saleOf(t *testing.T, p *release.Product) string {
	t.Helper()
	members := body(t, p)
	meta := members["meta"].(map[string]any)
	amount := func(price *release.Price) string {
		if price == nil {
			return ""
		}
		if price.IncludesTax {
			return price.Amount() + "+"
		}
		return price.Amount()
	}
	original := dig(t, members, "meta", "original_price")
	if p.OriginalPrice() == nil {
		require.Nil(t, original)
		require.Nil(t, meta["original_display_price"])
	} else {
		code := p.OriginalPrice().Currency
		require.Equal(t, p.OriginalPrice().Amount(), fmt.Sprintf("%.0f", dig(t, members, "meta", "original_price", code, "amount")))
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
	members := body(t, p)
	var tiers []string
	for _, tier := range p.Tiers() {
		tiers = append(tiers, fmt.Sprintf("%s %d: %s", tier.Name, tier.MinimumQuantity, tier.Price.Amount()))
		require.EqualValues(t, tier.MinimumQuantity, dig(t, members, "attributes", "tiers", tier.Name, "minimum_quantity"))
		require.Equal(t, tier.Price.Amount(), fmt.Sprintf("%.0f", dig(t, members, "attributes", "tiers", tier.Name, "price", "USD", "amount")))
		shown := cmpOr(tier.DisplayPrice.WithTax, tier.DisplayPrice.WithoutTax)
		require.Contains(t, fmt.Sprint(dig(t, members, "meta", "tiers", tier.Name, "display_price")), shown.Formatted)
	}
	require.Equal(t, want, strings.Join(tiers, ", "))
	require.Len(t, dig(t, members, "attributes", "tiers"), len(tiers))
	require.Len(t, dig(t, members, "meta", "tiers"), len(tiers))
}

func cmpOr[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

// Variants is the promise about what a parent and its children tell of each
// other (spec: Catalog product, meta).
func Variants(t *testing.T, e Engine) {
	s, _ := salesAt(t, e, noon)
	v := viewOf(t, s, release.ShopperContext{})
	parent := product(t, v, "dress")
	t.Run("a parent's variations and options by sort order", func(t *testing.T) {
		require.Equal(t, "Colour: Blue Red; Size: S L", variationsOf(parent.Variations()))
		require.Empty(t, parent.ChildVariations())
		require.Nil(t, dig(t, body(t, parent), "meta", "variations").([]any)[0].(map[string]any)["option"])
	})
	t.Run("a child's options, one of each variation", func(t *testing.T) {
		child := product(t, v, "dress-red-l")
		require.Empty(t, child.Variations())
		require.Equal(t, "Colour=Red: Blue Red; Size=L: S L", variationsOf(child.ChildVariations()))
		require.Equal(t, "Colour=Blue: Blue Red", variationsOf(product(t, v, "dress-own").ChildVariations()), "which has no size")
	})
	t.Run("the matrix, nested by variation", func(t *testing.T) {
		require.JSONEq(t, `{"red":{"s":"dress-red-s","l":"dress-red-l"},"blue":{"l":"dress-blue-l"}}`, string(parent.VariationMatrix()))
		require.Equal(t, [][]string{{"blue", "l"}, {"red", "s"}, {"red", "l"}}, parent.ChildOptionIDs(), "by the place of the colour, then of the size")
		require.Equal(t, []string{"dress-blue-l", "dress-own", "dress-red-s", "dress-red-l"}, parent.ChildIDs(), "likewise, also those no choice leads to: without a size, last of its colour")
	})
	t.Run("the child of a choice", func(t *testing.T) {
		for choice, want := range map[string]string{
			"red s": "dress-red-s", "s red": "dress-red-s", "red red l": "dress-red-l", "blue s": "", "red": "", "": "",
			"red s l": "", "red s blue": "", "green s": "", "red s nonsense": "",
		} {
			require.Equal(t, want, parent.ChildID(strings.Fields(choice)), choice)
		}
		require.Empty(t, product(t, v, "tea").ChildID([]string{"red", "s"}))
	})
	t.Run("modifiers that exist, in order", func(t *testing.T) {
		child := product(t, v, "dress-red-l")
		require.Equal(t, []string{"large", "no such modifier", "off"}, child.PriceModifiers())
		var names []string
		for _, m := range child.Modifiers() {
			names = append(names, fmt.Sprintf("%s %s %s", m.Name, m.ModifierType, m.Amounts[0].Amount()))
		}
		require.Equal(t, []string{"large price_increment 500", "off price_decrement 1000"}, names)
		shown := dig(t, body(t, child), "meta", "price_modifiers").(map[string]any)
		require.Equal(t, []string{"large", "off"}, slices.Sorted(maps.Keys(shown)))
		require.Empty(t, product(t, v, "rare").Modifiers(), "of what is no child")
	})
}

// variationsOf writes variations on a line.
func variationsOf(list []catalog.Variation) string {
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
