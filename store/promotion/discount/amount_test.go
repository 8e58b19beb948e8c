package discount_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/promotion/discount"
	"portico/store/promotion/rule"
)

func TestDiscountOfAnAmount(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) []rule.AmountInput {
		return []rule.AmountInput{{Currency: "USD", Minor: &minor}}
	}
	for _, c := range []struct {
		name     string
		kind     rule.PromotionType
		schema   string
		min, max []rule.AmountInput
		minor    int64
		currency string
		want     int64
	}{
		{name: "a fixed amount", kind: rule.FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`, minor: 5000, currency: "USD",
			want: 1000},
		{name: "at most the amount", kind: rule.FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`, minor: 400,
			currency: "USD", want: 400},
		{name: "a fixed amount below the maximum", kind: rule.FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`,
			max: usd(2000), minor: 5000, currency: "USD", want: 1000},
		{name: "a fixed amount over the maximum", kind: rule.FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`,
			max: usd(700), minor: 5000, currency: "USD", want: 700},
		{name: "a maximum in another currency", kind: rule.ItemFixedDiscount, schema: `{"currencies":[{"currency":"EUR","amount":1000}]}`,
			max: usd(700), minor: 5000, currency: "EUR", want: 1000},
		{name: "another currency", kind: rule.FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`, minor: 5000,
			currency: "EUR"},
		{name: "a percentage", kind: rule.PercentDiscount, schema: `{"percent":10}`, minor: 5000, currency: "USD", want: 500},
		{name: "a half is rounded up", kind: rule.PercentDiscount, schema: `{"percent":10}`, minor: 5, currency: "USD", want: 1},
		{name: "less than a half is rounded down", kind: rule.PercentDiscount, schema: `{"percent":10}`, minor: 4, currency: "USD", want: 0},
		{name: "an exact fraction", kind: rule.ItemPercentDiscount, schema: `{"percent":0.1}`, minor: 1500, currency: "USD", want: 2},
		{name: "just below a half", kind: rule.ItemPercentDiscount, schema: `{"percent":0.0999999999}`, minor: 1500, currency: "USD", want: 1},
		{name: "the largest amount", kind: rule.PercentDiscount, schema: `{"percent":100}`, minor: store.MaxAmount, currency: "JPY",
			want: store.MaxAmount},
		{name: "a percentage, capped", kind: rule.PercentDiscount, schema: `{"percent":50}`, max: usd(900), minor: 5000, currency: "USD", want: 900},
		{name: "a currency's own percentage", kind: rule.PercentDiscount, schema: `{"percent":10,"currencies":[{"currency":"USD","percentage":25}]}`,
			minor: 1000, currency: "USD", want: 250},
		{name: "no percentage in the currency", kind: rule.PercentDiscount, schema: `{"currencies":[{"currency":"USD","percentage":25}]}`,
			minor: 1000, currency: "EUR"},
		{name: "at the minimum cart value", kind: rule.PercentDiscount, schema: `{"percent":10}`, min: usd(5000), minor: 5000, currency: "USD",
			want: 500},
		{name: "below the minimum cart value", kind: rule.PercentDiscount, schema: `{"percent":10}`, min: usd(5000), minor: 4999, currency: "USD"},
		{name: "a minimum in another currency", kind: rule.PercentDiscount, schema: `{"percent":10}`, min: usd(1), minor: 5000, currency: "EUR"},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := &rule.Source{PromotionType: string(c.kind), Schema: json.RawMessage(c.schema), MinCartValue: rule.SourceAmounts(c.min),
				MaxDiscountValue: rule.SourceAmounts(c.max)}
			lines, off := []discount.Line{{SKU: "A", Unit: c.minor, Quantity: 1}}, int64(0)
			for _, d := range apply(lines, []discount.Offer{{Promotion: rule.NewPromotion(source, time.Time{})}}, c.currency) {
				off += d.Minor
			}
			require.Equal(t, c.want, off)
		})
	}
}
