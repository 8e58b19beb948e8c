package catalog

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/authoring"
)

// tiersOf reads "pair 2 1950, box 10 1900".
func tiersOf(text string) (list []Tier) {
	for _, part := range strings.Split(text, ", ") {
		var t Tier
		if n, _ := fmt.Sscan(part, &t.Name, &t.MinimumQuantity, &t.Minor); n == 3 {
			list = append(list, t)
		}
	}
	return list
}

func TestSaleKeepsLowerTiers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, base string
		sale       int64
		own, want  string
		withTax    bool // the sale alone
	}{
		{name: "no tiers", sale: 1500},
		{name: "tiers above the sale's price", base: "pair 2 1950, box 10 1900", sale: 1800},
		{name: "at the sale's price", base: "pair 2 1800", sale: 1800},
		{name: "below it", base: "pair 2 1950, box 10 1700", sale: 1800, want: "box 10 1700"},
		{name: "the sale's own", sale: 1800, own: "pair 2 1750", want: "pair 2 1750"},
		{name: "own and lower ones for more units", base: "pair 2 1950, box 10 1700", sale: 1800, own: "pair 2 1750", want: "pair 2 1750, box 10 1700"},
		{name: "lower than the price, but not than the sale's own tier", base: "box 10 1770", sale: 1800, own: "pair 2 1750", want: "pair 2 1750"},
		{name: "an own one that a lower one precedes", base: "pair 2 1500", sale: 1800, own: "box 10 1600", want: "pair 2 1500"},
		{name: "both for as many units", base: "pair 2 1500", sale: 1800, own: "two 2 1600, box 10 1400", want: "pair 2 1500, box 10 1400"},
		{name: "the own one is the lower", base: "pair 2 1600", sale: 1800, own: "two 2 1500", want: "two 2 1500"},
		{name: "one name for two", base: "bulk 10 1200", sale: 1800, own: "bulk 5 1400", want: "bulk 5 1400, bulk_10 10 1200"},
		{name: "an own one above the sale's price is the merchant's word", sale: 1800, base: "pair 2 1950", own: "pair 2 1850", want: "pair 2 1850"},
		{name: "with tax and without do not compare", base: "pair 2 10", sale: 1800, own: "box 10 1700", want: "box 10 1700", withTax: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := &Offer{Base: &TieredPrice{Minor: 2000, Tiers: tiersOf(c.base)}}
			holding := &Sale{ID: "sale", TieredPrice: TieredPrice{Minor: c.sale, IncludesTax: c.withTax, Tiers: tiersOf(c.own)}}
			require.Equal(t, tiersOf(c.want), o.Tiers(holding))
			require.Equal(t, tiersOf(c.base), o.Tiers(nil), "outside the sale")
		})
	}
}

// However many are bought, a sale makes none of them dearer than its own price
// and tiers do, nor than the tiers outside it.
func TestSaleNeverRaisesPrice(t *testing.T) {
	t.Parallel()
	price := func(from int64, tiers []Tier, quantity int) int64 {
		for _, t := range tiers { // by minimum quantity
			if t.MinimumQuantity <= quantity {
				from = t.Minor
			}
		}
		return from
	}
	rapid.Check(t, func(t *rapid.T) {
		falling := func(name string, from int64) (list []Tier) {
			quantity := 1
			for i := range rapid.IntRange(0, 4).Draw(t, name) {
				quantity += rapid.IntRange(1, 3).Draw(t, "step")
				from -= rapid.Int64Range(1, 20).Draw(t, "less")
				list = append(list, Tier{"t" + strconv.Itoa(i), quantity, from})
			}
			return list
		}
		minor := rapid.Int64Range(900, 1000).Draw(t, "sale")
		o := &Offer{Base: &TieredPrice{Minor: 1000, Tiers: falling("base", 1000)}}
		holding := &Sale{TieredPrice: TieredPrice{Minor: minor, Tiers: falling("own", minor)}}
		tiers, names := o.Tiers(holding), map[string]bool{}
		for _, t1 := range tiers {
			require.False(t, names[t1.Name], "two tiers are %s", t1.Name)
			names[t1.Name] = true
		}
		for quantity := 1; quantity < 20; quantity++ {
			want := min(price(minor, holding.Tiers, quantity), price(1000, o.Base.Tiers, quantity))
			require.Equal(t, want, price(minor, tiers, quantity), "%d units", quantity)
		}
	})
}

func TestModifiersMayRemoveSales(t *testing.T) {
	t.Parallel()
	modifier := func(kind PriceModifierType, amount int64) *ModifierSource {
		m := &ModifierSource{}
		m.Attributes.ModifierType = kind
		m.Attributes.Currencies = map[string]AmountPrice{"USD": {Amount: amount}}
		return m
	}
	dress := &Offer{Base: &TieredPrice{Minor: 9900, Tiers: tiersOf("box 10 9000")}, Sales: []Sale{
		{ID: "week", TieredPrice: TieredPrice{Minor: 8000}}, {ID: "day", TieredPrice: TieredPrice{Minor: 7000, Tiers: tiersOf("box 10 6900")}},
	}}
	for _, c := range []struct {
		name, currency string
		parent         *Offer
		modifiers      []*ModifierSource
		want           int // sales
	}{
		{"no modifier", "USD", dress, nil, 2},
		{"an increment", "USD", dress, []*ModifierSource{modifier(PriceIncrement, 5)}, 2},
		{"a replaced price without tiers", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}}}, []*ModifierSource{modifier(PriceEquals, 7)}, 0},
		{"a replaced price, incremented after that", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}}}, []*ModifierSource{modifier(PriceEquals, 7), modifier(PriceIncrement, 1)}, 0},
		{"a replaced price with tiers", "USD", dress, []*ModifierSource{modifier(PriceEquals, 7)}, 0},
		{"another currency", "EUR", dress, []*ModifierSource{modifier(PriceEquals, 7)}, 2},
		{"a decrement of more than all", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}}}, []*ModifierSource{modifier(PriceDecrement, 7)}, 0},
		{"a decrement that leaves something of one sale", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}, {ID: "dear", TieredPrice: TieredPrice{Minor: 9}}}}, []*ModifierSource{modifier(PriceDecrement, 7)}, 2},
		{"a sale that never was a reduction", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 5}}}}, []*ModifierSource{modifier(PriceIncrement, 7)}, 1},
		{"a price in a sale alone", "USD", &Offer{Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 5}}}}, []*ModifierSource{modifier(PriceEquals, 7)}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Len(t, c.parent.WithModifiers(c.currency, c.modifiers).Sales, c.want)
		})
	}
}

// TestOffersAreAppendedAsEncoded: releases compare hashes of this JSON.
func TestOffersAreAppendedAsEncoded(t *testing.T) {
	t.Parallel()
	price := rapid.Custom(func(t *rapid.T) *TieredPrice {
		return &TieredPrice{rapid.Int64().Draw(t, "minor"), rapid.Bool().Draw(t, "tax"), rapid.SampledFrom([][]Tier{nil, nil, nil, {}, tiersOf("box 10 9000")}).Draw(t, "tiers")}
	})
	sales := rapid.SampledFrom([][]Sale{nil, nil, nil, {}, {{ID: "day", TieredPrice: TieredPrice{Minor: 4}}}})
	offers := rapid.MapOf(rapid.StringMatching("[A-Z]{3}"), rapid.Custom(func(t *rapid.T) *Offer {
		return &Offer{rapid.StringMatching("[A-Za-z0-9_-]{1,9}").Draw(t, "book"), rapid.OneOf(price, price, price, rapid.Just[*TieredPrice](nil)).Draw(t, "base"), sales.Draw(t, "sales")}
	}))
	rapid.Check(t, func(t *rapid.T) {
		drawn := offers.Draw(t, "offers")
		require.Equal(t, "x "+string(store.Encode(drawn)), string(AppendOffers([]byte("x "), drawn)))
	})
	require.Equal(t, "null", string(AppendOffers(nil, nil)))
}

// TestStoredPricesAreDecoded compares the scanner of plain prices with the decoder of all.
func TestStoredPricesAreDecoded(t *testing.T) {
	t.Parallel()
	amounts := rapid.MapOfN(rapid.StringMatching("[A-Z]{3}"), rapid.Custom(func(t *rapid.T) AmountPrice {
		amount := AmountPrice{Amount: rapid.OneOf(rapid.Int64Range(0, 2_000_000_000), rapid.Int64()).Draw(t, "amount"), IncludesTax: rapid.Bool().Draw(t, "tax")}
		if rapid.IntRange(0, 4).Draw(t, "tiers") == 0 {
			amount.Tiers = map[string]tierSource{"box": {10, 5}}
		}
		return amount
	}), 0, 3)
	rapid.Check(t, func(t *rapid.T) {
		price := PriceSource{Type: "product-price", ID: rapid.StringMatching("[a-z0-9-]{1,9}").Draw(t, "id")}
		price.Attributes.SKU = rapid.String().Draw(t, "sku")
		price.Relationships.Pricebook = &authoring.LinkSource{Data: &authoring.RefSource{Type: "pricebook", ID: "b"}}
		if rapid.IntRange(0, 4).Draw(t, "currencies") > 0 {
			price.Attributes.Currencies = amounts.Draw(t, "amounts")
		}
		if rapid.IntRange(0, 4).Draw(t, "sales") == 0 {
			price.Attributes.Sales = map[string]saleSource{"day": {Currencies: amounts.Draw(t, "sale")}}
		}
		body := store.Encode(price)
		var want PriceSource
		require.NoError(t, store.Decode(body, &want))
		got, err := DecodePrice(body)
		require.NoError(t, err)
		require.Equal(t, want, *got, "%s", body)
	})
	_, ok := scanPrice([]byte(`{"type":"product-price","id":"p","attributes":{"sku":"S","currencies":{"USD":{"amount":5,"includes_tax":false}}},"relationships":{"pricebook":{"data":{"type":"pricebook","id":"b"}}}}`))
	require.True(t, ok)
}
