package rule

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestDiscount(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) []AmountInput {
		return []AmountInput{{Currency: "USD", Minor: &minor}}
	}
	for _, c := range []struct {
		name     string
		kind     PromotionType
		schema   string
		min, max []AmountInput
		minor    int64
		currency string
		want     int64
		none     bool
	}{
		{name: "a fixed amount", kind: FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`, minor: 5000, currency: "USD",
			want: 1000},
		{name: "at most the amount", kind: FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`, minor: 400,
			currency: "USD", want: 400},
		{name: "a fixed amount below the maximum", kind: FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`,
			max: usd(2000), minor: 5000, currency: "USD", want: 1000},
		{name: "a fixed amount over the maximum", kind: FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`,
			max: usd(700), minor: 5000, currency: "USD", want: 700},
		{name: "a maximum in another currency", kind: ItemFixedDiscount, schema: `{"currencies":[{"currency":"EUR","amount":1000}]}`,
			max: usd(700), minor: 5000, currency: "EUR", want: 1000},
		{name: "another currency", kind: FixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":1000}]}`, minor: 5000,
			currency: "EUR", none: true},
		{name: "a bundle", kind: BundleFixedDiscount, schema: `{"currencies":[{"currency":"USD","amount":300}]}`, minor: 5000, currency: "USD",
			want: 300},
		{name: "a percentage", kind: PercentDiscount, schema: `{"percent":10}`, minor: 5000, currency: "USD", want: 500},
		{name: "a half is rounded up", kind: PercentDiscount, schema: `{"percent":10}`, minor: 5, currency: "USD", want: 1},
		{name: "less than a half is rounded down", kind: PercentDiscount, schema: `{"percent":10}`, minor: 4, currency: "USD", want: 0},
		{name: "an exact fraction", kind: ItemPercentDiscount, schema: `{"percent":0.1}`, minor: 1500, currency: "USD", want: 2},
		{name: "just below a half", kind: ItemPercentDiscount, schema: `{"percent":0.0999999999}`, minor: 1500, currency: "USD", want: 1},
		{name: "the largest amount", kind: PercentDiscount, schema: `{"percent":100}`, minor: store.MaxAmount, currency: "JPY",
			want: store.MaxAmount},
		{name: "a percentage, capped", kind: PercentDiscount, schema: `{"percent":50}`, max: usd(900), minor: 5000, currency: "USD", want: 900},
		{name: "a currency's own percentage", kind: PercentDiscount, schema: `{"percent":10,"currencies":[{"currency":"USD","percentage":25}]}`,
			minor: 1000, currency: "USD", want: 250},
		{name: "no percentage in the currency", kind: PercentDiscount, schema: `{"currencies":[{"currency":"USD","percentage":25}]}`,
			minor: 1000, currency: "EUR", none: true},
		{name: "at the minimum cart value", kind: PercentDiscount, schema: `{"percent":10}`, min: usd(5000), minor: 5000, currency: "USD",
			want: 500},
		{name: "below the minimum cart value", kind: PercentDiscount, schema: `{"percent":10}`, min: usd(5000), minor: 4999, currency: "USD",
			none: true},
		{name: "a minimum in another currency", kind: PercentDiscount, schema: `{"percent":10}`, min: usd(1), minor: 5000, currency: "EUR",
			none: true},
		{name: "depends on the items", kind: XForY, schema: `{"x":3,"y":2,"targets":["A"]}`, minor: 5000, currency: "USD", none: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := &Source{PromotionType: string(c.kind), Schema: json.RawMessage(c.schema), MinCartValue: SourceAmounts(c.min),
				MaxDiscountValue: SourceAmounts(c.max)}
			discount, ok := NewPromotion(source, time.Time{}).Discount(c.minor, c.currency)
			require.Equal(t, []any{c.want, !c.none}, []any{discount, ok})
		})
	}
}

func TestState(t *testing.T) {
	t.Parallel()
	start := time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)
	end := start.Add(time.Hour)
	for _, c := range []struct {
		at                time.Time
		enabled, disabled PromotionState
	}{
		{start.Add(-time.Millisecond), PromotionScheduled, PromotionDisabled},
		{start, PromotionActive, PromotionDisabled},
		{end.Add(-time.Millisecond), PromotionActive, PromotionDisabled},
		{end, PromotionExpired, PromotionExpired},
		{end.Add(time.Hour), PromotionExpired, PromotionExpired},
	} {
		for enabled, want := range map[bool]PromotionState{true: c.enabled, false: c.disabled} {
			p := &Promotion{Enabled: enabled, Start: start, End: end}
			require.Equal(t, want, p.StateAt(c.at), "%s, enabled %t", c.at, enabled)
		}
	}
}
