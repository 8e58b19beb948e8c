package price

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store/catalog"
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
	modifier := func(kind catalog.PriceModifierType, amount int64) *catalog.ModifierSource {
		m := &catalog.ModifierSource{}
		m.Attributes.ModifierType = kind
		m.Attributes.Currencies = map[string]catalog.AmountPrice{"USD": {Amount: amount}}
		return m
	}
	dress := &Offer{Base: &TieredPrice{Minor: 9900, Tiers: tiersOf("box 10 9000")}, Sales: []Sale{
		{ID: "week", TieredPrice: TieredPrice{Minor: 8000}}, {ID: "day", TieredPrice: TieredPrice{Minor: 7000, Tiers: tiersOf("box 10 6900")}},
	}}
	for _, c := range []struct {
		name, currency string
		parent         *Offer
		modifiers      []*catalog.ModifierSource
		want           int // sales
	}{
		{"no modifier", "USD", dress, nil, 2},
		{"an increment", "USD", dress, []*catalog.ModifierSource{modifier(catalog.PriceIncrement, 5)}, 2},
		{"a replaced price without tiers", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}}}, []*catalog.ModifierSource{modifier(catalog.PriceEquals, 7)}, 0},
		{"a replaced price, incremented after that", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}}}, []*catalog.ModifierSource{modifier(catalog.PriceEquals, 7), modifier(catalog.PriceIncrement, 1)}, 0},
		{"a replaced price with tiers", "USD", dress, []*catalog.ModifierSource{modifier(catalog.PriceEquals, 7)}, 0},
		{"another currency", "EUR", dress, []*catalog.ModifierSource{modifier(catalog.PriceEquals, 7)}, 2},
		{"a decrement of more than all", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}}}, []*catalog.ModifierSource{modifier(catalog.PriceDecrement, 7)}, 0},
		{"a decrement that leaves something of one sale", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 4}}, {ID: "dear", TieredPrice: TieredPrice{Minor: 9}}}}, []*catalog.ModifierSource{modifier(catalog.PriceDecrement, 7)}, 2},
		{"a sale that never was a reduction", "USD", &Offer{Base: &TieredPrice{Minor: 5}, Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 5}}}}, []*catalog.ModifierSource{modifier(catalog.PriceIncrement, 7)}, 1},
		{"a price in a sale alone", "USD", &Offer{Sales: []Sale{{ID: "day", TieredPrice: TieredPrice{Minor: 5}}}}, []*catalog.ModifierSource{modifier(catalog.PriceEquals, 7)}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Len(t, c.parent.WithModifiers(c.currency, c.modifiers).Sales, c.want)
		})
	}
}
