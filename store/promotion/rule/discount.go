package rule

import (
	"encoding/json"
	"math/big"

	"portico/store"
)

// Discount is what the promotion takes off an amount of a currency, in minor
// units: never more than the amount itself, nor than the maximum discount of
// the currency, where there is one. A part of an amount is rounded to the
// nearest minor unit, a half up. ok is false where an amount alone does not
// tell: the type depends on what is in the cart, or gives nothing in the
// currency, or the amount is below the minimum of the cart's value.
//
// The contract keeps the maximum from fixed discounts and yet says what
// applies: the smaller of the two. So it is with every type.
func (p *Promotion) Discount(minor int64, currency string) (discount int64, ok bool) {
	if least, asked := AmountIn(p.MinCartValue, currency); minor < 0 || asked && minor < least {
		return 0, false
	}
	if len(p.MinCartValue) > 0 {
		if _, asked := AmountIn(p.MinCartValue, currency); !asked {
			return 0, false // no cart of this currency is good enough
		}
	}
	switch p.Type {
	case FixedDiscount, ItemFixedDiscount, BundleFixedDiscount:
		discount, ok = p.fixed(currency)
	case PercentDiscount, ItemPercentDiscount:
		discount, ok = p.percentOff(minor, currency)
	}
	if !ok {
		return 0, false
	}
	if most, capped := AmountIn(p.MaxDiscountValue, currency); capped {
		discount = min(discount, most)
	}
	return min(discount, minor), true
}

func (p *Promotion) fixed(currency string) (int64, bool) {
	for _, c := range p.Currencies {
		if c.Currency == currency && c.Minor != nil {
			return *c.Minor, true
		}
	}
	return 0, false
}

// part is a percentage of an amount: the currency's own, else the one for all
// currencies.
func (p *Promotion) percentOff(minor int64, currency string) (int64, bool) {
	percentage := DecodeSchema(p.Schema).Percent
	for _, c := range p.Currencies {
		if c.Currency == currency && c.Percentage != nil {
			percentage = c.Percentage
		}
	}
	return percentageOf(minor, percentage)
}

func percentageOf(minor int64, percentage *json.Number) (int64, bool) {
	if percentage == nil {
		return 0, false
	}
	percent, ok := percentOf([]byte(percentage.String()))
	if !ok {
		return 0, false
	}
	part := new(big.Rat).Mul(percent, big.NewRat(minor, 100))
	part.Add(part, big.NewRat(1, 2))
	return new(big.Int).Quo(part.Num(), part.Denom()).Int64(), true
}

func AmountIn(amounts []store.CurrencyAmount, currency string) (minor int64, found bool) {
	for _, a := range amounts {
		if a.Currency == currency {
			return a.Minor, true
		}
	}
	return 0, false
}
