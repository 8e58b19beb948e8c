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

// Price is an amount of money as a price book has it.
type Price struct {
	Minor       int64 // minor units
	Currency    string
	IncludesTax bool
	PricebookID string
}

// appendJSON appends the attribute price: {"USD":{"amount":1,"includes_tax":false}}.
func (p *Price) appendJSON(dst []byte) []byte {
	if p == nil {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	dst = append(store.AppendName(dst, p.Currency), `{"amount":`...)
	dst = strconv.AppendInt(dst, p.Minor, 10)
	dst = append(dst, `,"includes_tax":`...)
	return append(append(dst, catalog.FormatBool(p.IncludesTax)...), "}}"...)
}

// DisplayPrice is a price as text, either with or without tax, as the price
// book has it. The other one is nil because no tax rate is known.
type DisplayPrice struct {
	WithTax    *store.Money
	WithoutTax *store.Money
}

func (d *DisplayPrice) appendJSON(dst []byte) []byte {
	if d == nil {
		return append(dst, "null"...)
	}
	dst = d.WithTax.AppendJSON(append(dst, `{"with_tax":`...))
	dst = d.WithoutTax.AppendJSON(append(dst, `,"without_tax":`...))
	return append(dst, '}')
}

// Range is the lowest and the highest of some prices.
type Range struct{ Min, Max *DisplayPrice }

// NewRange returns a range, or nil without a price.
func NewRange(low, high *DisplayPrice) *Range {
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
	DisplayPrice    *DisplayPrice
}

// appendTiers appends {"min_5":{"minimum_quantity":5,…}}, with the prices as numbers, or as they are displayed.
func appendTiers(dst []byte, tiers []PriceTier, displayed bool) []byte {
	dst = append(dst, '{')
	for _, t := range tiers {
		dst = append(store.AppendKey(dst, t.Name), `{"minimum_quantity":`...)
		dst = strconv.AppendInt(dst, int64(t.MinimumQuantity), 10)
		if displayed {
			dst = t.DisplayPrice.appendJSON(store.AppendName(dst, "display_price"))
		} else {
			dst = t.Price.appendJSON(store.AppendName(dst, "price"))
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}
