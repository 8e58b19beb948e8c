package rule

import (
	"encoding/json"
	"math/big"

	"portico/store"
)

// Discount returns what the promotion takes off an amount, in minor units: at most the amount,
// and at most the maximum discount of the currency. Percentages are rounded to the nearest minor
// unit, half up. ok is false if the discount is unknown: the type depends on the items of the
// cart, the promotion has no value in the currency, or the amount is below the minimum cart
// value.
//
// New fixed discounts must not have a maximum, but imported ones may. It then applies to them
// too.
func (p *Promotion) Discount(minor int64, currency string) (discount int64, ok bool) {
	if least, asked := AmountIn(p.MinCartValue, currency); minor < 0 || asked && minor < least {
		return 0, false
	}
	if len(p.MinCartValue) > 0 {
		if _, asked := AmountIn(p.MinCartValue, currency); !asked {
			return 0, false // a minimum in other currencies only
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

// percentOff returns a percentage of an amount: that of the currency, else that of all
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
	percent, ok := parsePercent([]byte(percentage.String()))
	if !ok {
		return 0, false
	}
	part := new(big.Rat).Mul(percent, big.NewRat(minor, 100))
	part.Add(part, big.NewRat(1, 2))
	return new(big.Int).Quo(part.Num(), part.Denom()).Int64(), true
}

// AmountIn returns the amount in a currency.
func AmountIn(amounts []store.CurrencyAmount, currency string) (minor int64, found bool) {
	for _, a := range amounts {
		if a.Currency == currency {
			return a.Minor, true
		}
	}
	return 0, false
}
