package discount_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"portico/store"
	"portico/store/promotion/discount"
	"portico/store/promotion/rule"
)

var skus = []string{"A", "B", "C", "D"}

func drawLines(t *rapid.T) []discount.Line {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) discount.Line {
		line := discount.Line{SKU: rapid.SampledFrom(skus).Draw(t, "sku"), Unit: rapid.Int64Range(0, 2000).Draw(t, "unit"), Quantity: rapid.IntRange(1, 9).Draw(t, "quantity")}
		if line.SKU == "D" {
			line.Extensions = json.RawMessage(`{"products(x)":{"sold":"apart"}}`)
		}
		return line
	}), 1, 6).Draw(t, "lines")
}

func drawOffers(t *rapid.T, most int, kinds ...rule.PromotionType) (offers []discount.Offer) {
	for i := range rapid.IntRange(1, most).Draw(t, "promotions") {
		offers = append(offers, drawOffer(t, fmt.Sprint("p", i), rapid.SampledFrom(kinds).Draw(t, "type")))
	}
	return offers
}

func drawOffer(t *rapid.T, id string, kind rule.PromotionType) (o discount.Offer) {
	amount := func(name string, most int) []byte {
		return fmt.Appendf(nil, `[{"currency":"USD","amount":%d}]`, rapid.IntRange(0, most).Draw(t, name))
	}
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(skus), 1, 3, rapid.ID)
	schema := map[string]any{}
	source := &rule.Source{ID: id, PromotionType: string(kind)}
	if rapid.Bool().Draw(t, "percent") && (kind == rule.PercentDiscount || kind == rule.ItemPercentDiscount) || kind == rule.ItemPercentDiscount {
		schema["percent"] = rapid.SampledFrom([]json.Number{"0.5", "10", "33.3", "50", "100"}).Draw(t, "percentage")
	} else if kind == rule.PercentDiscount {
		schema["currencies"] = json.RawMessage(`[{"currency":"USD","percentage":12.5}]`)
	}
	switch kind {
	case rule.FixedDiscount, rule.ItemFixedDiscount, rule.XForAmount, rule.BundleFixedDiscount:
		schema["currencies"] = json.RawMessage(amount("amount", 3000))
	}
	switch kind {
	case rule.BundleFixedDiscount, rule.BundleGift:
		var groups [][]string
		var quantities []int
		for range rapid.IntRange(1, 3).Draw(t, "parts") {
			groups, quantities = append(groups, some.Draw(t, "part")), append(quantities, rapid.IntRange(1, 3).Draw(t, "quantity"))
		}
		schema["targets"], schema["quantities"], schema["gifts"] = groups, quantities, some.Draw(t, "gifts")
	case rule.XForY, rule.XForAmount:
		y := rapid.IntRange(1, 3).Draw(t, "y")
		schema["x"], schema["y"], schema["targets"] = y+rapid.IntRange(1, 3).Draw(t, "more"), y, some.Draw(t, "targets")
	case rule.ItemFixedDiscount, rule.ItemPercentDiscount:
		if rapid.Bool().Draw(t, "some") {
			schema["targets"] = some.Draw(t, "targets")
		}
	}
	if rapid.Bool().Draw(t, "excludes") {
		schema["conditions"] = []any{map[string]string{"template": "x", "field": "sold", "type": "string", "value": "apart"}}
	}
	if rapid.Bool().Draw(t, "capped") {
		if err := json.Unmarshal(amount("cap", 1500), &source.MaxDiscountValue); err != nil {
			t.Fatal(err)
		}
	}
	source.MaxApplicationsPerCart = rapid.IntRange(0, 4).Draw(t, "times")
	if rapid.IntRange(0, 3).Draw(t, "code") == 0 {
		uses := rapid.IntRange(1, 5).Draw(t, "uses")
		o.Code, o.Limit = id, &uses
	}
	source.Schema, _ = json.Marshal(schema)
	o.Promotion = rule.NewPromotion(source, time.Time{})
	return o
}

func total(lines []discount.Line, discounts []discount.Discount) int64 {
	sum := discount.Subtotal(lines)
	for _, d := range discounts {
		sum -= d.Minor
	}
	return sum
}

// Discounts stay within the lines, the caps and the limits, and a cart costs at most what it costs with
// any one of the promotions.
func TestDiscountsStayWithinTheirBounds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines, offers := drawLines(t), drawOffers(t, 7, rule.PromotionTypes()...)
		discounts := apply(lines, offers, "USD")
		off := make([]int64, len(lines))
		whole := 0
		for _, d := range discounts {
			requireConsistent(t, lines, d)
			o := offers[d.Offer]
			if !o.Promotion.HasItems() {
				whole++
			}
			if most, capped := rule.AmountIn(o.Promotion.MaxDiscountValue, "USD"); capped {
				require.LessOrEqual(t, d.Minor, most)
			}
			for _, most := range []*int{o.Limit, o.Promotion.MaxApplicationsPerCart} {
				if most != nil {
					require.LessOrEqual(t, d.Applications, *most)
				}
			}
			for _, part := range d.Lines {
				off[part.Line] += part.Minor
				require.False(t, o.Promotion.Exclusion().Excludes(rule.DecodeItemFields(lines[part.Line].Extensions)))
			}
		}
		require.LessOrEqual(t, whole, 1, "one promotion of the cart")
		for i, l := range lines {
			require.LessOrEqual(t, off[i], l.Unit*int64(l.Quantity), "line %d", i)
		}
		for i := range offers {
			alone := apply(lines, offers[i:i+1], "USD")
			require.LessOrEqual(t, total(lines, discounts), total(lines, alone)+1, "cheaper with %s alone, but for rounding", offers[i].Promotion.ID)
		}
	})
}

// The order of lines and offers decides nothing.
func TestDiscountsDoNotDependOnOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines, offers := drawLines(t), drawOffers(t, 7, rule.PromotionTypes()...)
		amounts := func(lines []discount.Line, offers []discount.Offer) (list []string) {
			for _, d := range apply(lines, offers, "USD") {
				var parts []string
				for _, part := range d.Lines {
					l := lines[part.Line]
					parts = append(parts, fmt.Sprint(l.SKU, l.Unit, " ", l.Quantity, " ", part.Minor))
				}
				slices.Sort(parts)
				list = append(list, fmt.Sprint(offers[d.Offer].Promotion.ID, d.Applications, parts))
			}
			return list
		}
		want := amounts(lines, offers)
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		r.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
		r.Shuffle(len(offers), func(i, k int) { offers[i], offers[k] = offers[k], offers[i] })
		require.Equal(t, want, amounts(lines, offers))
	})
}

// More units get no smaller discount from a promotion without bundles.
func TestDiscountsGrowWithQuantity(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines, offers := drawLines(t), drawOffers(t, 1, rule.FixedDiscount, rule.PercentDiscount, rule.ItemFixedDiscount, rule.ItemPercentDiscount, rule.XForY, rule.XForAmount)
		before := discount.Subtotal(lines) - total(lines, apply(lines, offers, "USD"))
		lines[rapid.IntRange(0, len(lines)-1).Draw(t, "line")].Quantity += rapid.IntRange(1, 5).Draw(t, "more")
		after := discount.Subtotal(lines) - total(lines, apply(lines, offers, "USD"))
		require.GreaterOrEqual(t, after, before)
	})
}

// The largest quantities cost as much work as small ones, and amounts stay exact.
func TestDiscountsOfLargeCarts(t *testing.T) { // not parallel: it counts allocations
	const many = 1_000_000
	for _, c := range []struct {
		promotion string
		want      string
	}{
		{"A: 33% off all", "29040000.00"},
		{"A: 3 for 2 of MUG CUP", "29333304.00"},
		{"A: 3 for 10.00 of MUG CUP", "81333324.00"},
		{"A: 5.00 off 2 MUG + 3 CUP", "1666665.00"},
		{"A: free CUP with 2 any", "5333328.00"},
	} {
		lines := []discount.Line{{SKU: "MUG", Unit: 8000, Quantity: many}, {SKU: "CUP", Unit: 800, Quantity: many}}
		work := testing.AllocsPerRun(1, func() { apply(lines, parseOffers(t, c.promotion), "USD") })
		require.Less(t, work, 1000., c.promotion)
		discounts := apply(lines, parseOffers(t, c.promotion), "USD")
		require.Len(t, discounts, 1, c.promotion)
		require.Equal(t, c.want, amountText(discounts[0].Minor), c.promotion)
		requireConsistent(t, lines, discounts[0])
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cart, promotions string
		next             int
		missing          string
	}{
		{"2 MUG 10.00", "A: 10% off the cart, from 50.00; B: 20% off the cart, from 30.00", 1, "10.00"},
		{"2 MUG 10.00", "A: 10% off the cart, from 20.00", -1, "0.00"},
		{"2 MUG 10.00", "A: 10% off the cart", -1, "0.00"},
		{"2 MUG 10.00", "A: 10% off CUP, from 30.00; B: 10% off MUG, from 40.00", 1, "20.00"},
		{"2 MUG 10.00", "B: 10% off MUG, from 40.00; A: 20% off MUG, from 40.00", 1, "20.00"},
		{"1 GLASS 10.00", "A: 10% off all, from 40.00, not brand LG", -1, "0.00"},
	} {
		var promotions []*rule.Promotion
		for _, o := range parseOffers(t, c.promotions) {
			promotions = append(promotions, o.Promotion)
		}
		next, missing, err := discount.NewCart(parseLines(t, c.cart), "USD", nil).Next(promotions)
		require.NoError(t, err)
		require.Equal(t, []any{c.next, c.missing}, []any{next, amountText(missing)}, "%s, %s", c.cart, c.promotions)
		next, _, err = discount.NewCart(parseLines(t, c.cart), "EUR", nil).Next(promotions)
		require.NoError(t, err)
		require.Equal(t, -1, next, "minimum and amounts in another currency only")
	}
}

// Five competing promotions of each kind, on a cart of 100 lines of different prices.
func BenchmarkApply(b *testing.B) {
	var lines []discount.Line
	for i := range 100 {
		lines = append(lines, discount.Line{SKU: skus[i%4], Unit: int64(100 + i), Quantity: 1 + i%7})
	}
	for name, terms := range map[string]string{"percent": "10% off A B C", "groups": "3 for 2 of A B C", "bundles": "5.00 off 3 A B + 2 C", "gifts": "free A with 5 A B C"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var offers []discount.Offer
			for _, id := range skus {
				offers = append(offers, parseOffers(b, id+": "+terms)...)
			}
			offers = append(offers, parseOffers(b, "E: "+terms)...)
			for b.Loop() {
				apply(lines, offers, "USD")
			}
		})
	}
}

// TestStepsAreSpent requires that each calculation accounts for its steps, and ends soon after an error.
func TestStepsAreSpent(t *testing.T) {
	t.Parallel()
	const size, most = 100, 1_000_000
	var lines []discount.Line
	var skus, parts []string
	for i := range size {
		lines = append(lines, discount.Line{SKU: fmt.Sprint("S", i), Unit: int64(100 + i), Quantity: 2 + i%3, Extensions: json.RawMessage(`{"products(x)":{"sold":"alone"}}`)})
		skus, parts = append(skus, fmt.Sprintf(`"S%d"`, i)), append(parts, `{"targets":"all","quantity":1}`)
	}
	var offers []discount.Offer
	var promotions []*rule.Promotion
	for i := range size {
		schema := fmt.Sprintf(`{"requirements":[%s],"gifts":[%s],"conditions":[{"template":"x","field":"sold","type":"string","value":"apart"}]}`,
			strings.Join(parts, ","), strings.Join(skus, ","))
		source := &rule.Source{ID: fmt.Sprint("p", i), PromotionType: string(rule.BundleGift), Schema: json.RawMessage(schema)}
		promotions = append(promotions, rule.NewPromotion(source, time.Time{}))
		promotions[i].MinCartValue = []store.CurrencyAmount{{Currency: "USD", Minor: store.MaxAmount - int64(i)}} // each is nearer than those before
		offers = append(offers, discount.Offer{Promotion: rule.NewPromotion(source, time.Time{})})
	}
	spent, errSpent := 0, errors.New("spent")
	for name, calculate := range map[string]func(c *discount.Cart) error{
		"Apply": func(c *discount.Cart) error { _, err := c.Apply(offers); return err },
		"Next":  func(c *discount.Cart) error { _, _, err := c.Next(promotions); return err },
		"Units": func(c *discount.Cart) error {
			for _, p := range promotions {
				if _, err := c.Units(p); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		spent = 0
		err := calculate(discount.NewCart(lines, "USD", func(steps int) error {
			if spent += steps; spent > most {
				return errSpent
			}
			return nil
		}))
		require.ErrorIs(t, err, errSpent, name)
		require.Less(t, spent, most*11/10, name)
	}
}
