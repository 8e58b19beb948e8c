// Package price computes and writes what products cost. An Offer has a base price and
// sales, of which SaleAt chooses the one that wins. A Quote holds a product's prices at a
// moment, a Formatter writes amounts, and OfferLines encodes the offers that a release
// stores. It must not import segment, routing or release.
package price

import (
	"strconv"

	"portico/store"
	"portico/store/catalog"
)

// Price is an amount of money as a price book has it, and as a shopper reads it. No tax rate is known, so it is either with or
// without tax. A Formatter makes prices.
type Price struct {
	Minor       int64 // minor units
	IncludesTax bool
	PricebookID string
	money       store.Money
}

// Money returns the price formatted for the shopper.
func (p *Price) Money() *store.Money { return &p.money }

// WithTax returns Money if it includes tax, else nil.
func (p *Price) WithTax() *store.Money {
	if !p.IncludesTax {
		return nil
	}
	return &p.money
}

// WithoutTax returns Money if it excludes tax, else nil.
func (p *Price) WithoutTax() *store.Money {
	if p.IncludesTax {
		return nil
	}
	return &p.money
}

// appendJSON appends the attribute price: {"USD":{"amount":1,"includes_tax":false}}, or {} for nil.
func (p *Price) appendJSON(dst []byte) []byte {
	if p == nil {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	dst = append(store.AppendName(dst, p.money.Currency), `{"amount":`...)
	dst = strconv.AppendInt(dst, p.Minor, 10)
	dst = append(dst, `,"includes_tax":`...)
	return append(append(dst, catalog.FormatBool(p.IncludesTax)...), "}}"...)
}

// appendDisplayJSON appends the member display_price of meta: null for nil.
func (p *Price) appendDisplayJSON(dst []byte) []byte {
	if p == nil {
		return append(dst, "null"...)
	}
	dst = p.WithTax().AppendJSON(append(dst, `{"with_tax":`...))
	dst = p.WithoutTax().AppendJSON(append(dst, `,"without_tax":`...))
	return append(dst, '}')
}

// Range is the lowest and the highest of some prices.
type Range struct{ Min, Max *Price }

// NewRange returns a range, or nil without a price.
func NewRange(low, high *Price) *Range {
	if low == nil {
		return nil
	}
	return &Range{low, high}
}

// PriceTier is the price of one unit from a quantity on.
type PriceTier struct {
	Name            string
	MinimumQuantity int
	Price           *Price
}

// appendTiers appends {"min_5":{"minimum_quantity":5,…}}, with the prices as numbers, or as they are displayed if displayed is
// set.
func appendTiers(dst []byte, tiers []PriceTier, displayed bool) []byte {
	dst = append(dst, '{')
	for _, t := range tiers {
		dst = append(store.AppendKey(dst, t.Name), `{"minimum_quantity":`...)
		dst = strconv.AppendInt(dst, int64(t.MinimumQuantity), 10)
		if displayed {
			dst = t.Price.appendDisplayJSON(store.AppendName(dst, "display_price"))
		} else {
			dst = t.Price.appendJSON(store.AppendName(dst, "price"))
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}
