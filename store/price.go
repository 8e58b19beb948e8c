package store

import "strconv"

// Price is what a product costs in the view's currency.
type Price struct {
	Minor       int64 // minor units
	Currency    string
	IncludesTax bool
	PricebookID string
}

// Amount is the minor units in digits, exact in every client.
func (p *Price) Amount() string { return strconv.FormatInt(p.Minor, 10) }

// DisplayPrice is a price for people: with tax, or without, as the price book
// has it. The other is nil, because no tax rate is known here.
type DisplayPrice struct {
	WithTax    *Money
	WithoutTax *Money
}

// releasePrice works out the price of a product in each currency: of the
// price books by priority, the first with a price in it.
func releasePrices(ranked []pricebookRank, ofBook map[string]*priceSource) map[string]Price {
	prices := map[string]Price{}
	for _, rank := range ranked {
		source := ofBook[rank.ID]
		if source == nil {
			continue
		}
		for code, amount := range source.Attributes.Currencies {
			if _, priced := prices[code]; !priced {
				prices[code] = Price{Minor: amount.Amount, Currency: code, IncludesTax: amount.IncludesTax, PricebookID: rank.ID}
			}
		}
	}
	return prices
}

// appendPrice appends the attribute price: {"USD":{"amount":1,"includes_tax":false}}.
func (p *Price) appendJSON(dst []byte) []byte {
	if p == nil {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	dst = append(appendName(dst, p.Currency), `{"amount":`...)
	dst = strconv.AppendInt(dst, p.Minor, 10)
	dst = append(dst, `,"includes_tax":`...)
	return append(append(dst, boolean(p.IncludesTax)...), "}}"...)
}

func (d *DisplayPrice) appendJSON(dst []byte) []byte {
	if d == nil {
		return append(dst, "null"...)
	}
	dst = d.WithTax.appendJSON(append(dst, `{"with_tax":`...))
	dst = d.WithoutTax.appendJSON(append(dst, `,"without_tax":`...))
	return append(dst, '}')
}
