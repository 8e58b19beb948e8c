package rule

import (
	"encoding/json"
	"math/big"
	"math/bits"
	"slices"

	"portico/store"
)

// AmountIn returns the amount of the promotion in a currency; false if it has none, as types without amounts.
func (p *Promotion) AmountIn(currency string) (minor int64, ok bool) {
	for _, c := range p.Currencies {
		if c.Currency == currency && c.Minor != nil && hasAmounts(p.Type) {
			return *c.Minor, true
		}
	}
	return 0, false
}

// PercentageIn returns the percentage of the promotion in a currency: that of the currency, else that
// of all currencies. Nil if it has none, as types without a percentage.
func (p *Promotion) PercentageIn(currency string) *json.Number {
	if !hasPercent(p.Type) {
		return nil
	}
	percentage := DecodeSchema(p.Schema).Percent
	for _, c := range p.Currencies {
		if c.Currency == currency && c.Percentage != nil {
			percentage = c.Percentage
		}
	}
	return percentage
}

// MinimumIn returns the minimum cart value in a currency, 0 for none; false if the promotion has one in
// other currencies only.
func (p *Promotion) MinimumIn(currency string) (minor int64, ok bool) {
	minor, found := AmountIn(p.MinCartValue, currency)
	return minor, found || len(p.MinCartValue) == 0
}

// Capped returns a discount, at most the maximum discount in the currency. New fixed discounts must not
// have a maximum, but imported ones may. It then applies to them too.
func (p *Promotion) Capped(discount int64, currency string) int64 {
	if most, capped := AmountIn(p.MaxDiscountValue, currency); capped {
		return min(discount, most)
	}
	return discount
}

// GivesIn reports whether the promotion gives something in a currency. One that names no currency gives
// something in all of them.
func (p *Promotion) GivesIn(currency string) bool {
	named := func(c PromotionCurrency) bool { return c.Currency == currency }
	return len(p.Currencies) == 0 || slices.ContainsFunc(p.Currencies, named) || hasPercent(p.Type) && DecodeSchema(p.Schema).Percent != nil
}

// Percentage is a parsed percentage. The zero Percentage is 0.
type Percentage struct {
	part, whole uint64   // the percentage is part/whole; both are 0 if that is too large to calculate with
	exact       *big.Rat // in percent, of any size; nil for the zero Percentage
}

// NewPercentage parses a percentage as stored; false for nil and for what is no number.
func NewPercentage(text *json.Number) (p Percentage, ok bool) {
	if text == nil || *text == "" {
		return p, false
	}
	p.exact, ok = parsePercent([]byte(*text))
	if !ok {
		return Percentage{}, false
	}
	const small = 1 << 32 // so that 100 times it fits into 64 bits
	if part, whole := p.exact.Num(), p.exact.Denom(); part.Sign() >= 0 && part.IsUint64() && whole.IsUint64() && part.Uint64() < small && whole.Uint64() < small {
		p.part, p.whole = part.Uint64(), 100*whole.Uint64()
	}
	return p, true
}

// Of returns the percentage of an amount of at least 0, rounded to the nearest minor unit, half up. The
// percentage must be at most 100.
func (p Percentage) Of(minor int64) int64 {
	switch {
	case p.exact == nil:
		return 0
	case p.whole == 0:
		part := new(big.Rat).Mul(p.exact, big.NewRat(minor, 100))
		part.Add(part, big.NewRat(1, 2))
		return new(big.Int).Quo(part.Num(), part.Denom()).Int64()
	}
	high, low := bits.Mul64(uint64(minor), p.part)
	low, carry := bits.Add64(low, p.whole/2, 0) // whole is even
	quotient, _ := bits.Div64(high+carry, low, p.whole)
	return int64(quotient)
}

// AmountIn returns the amount in a currency; found is false if there is none.
func AmountIn(amounts []store.CurrencyAmount, currency string) (minor int64, found bool) {
	for _, a := range amounts {
		if a.Currency == currency {
			return a.Minor, true
		}
	}
	return 0, false
}
