package price

import (
	"cmp"
	"slices"

	"portico/store/catalog"
)

// Offer is a product's price in one price book and currency: a base price, and sales that
// replace it for a time.
type Offer struct {
	PricebookID string
	Base        *TieredPrice // nil if the product is only sold in sales
	Sales       []Sale       // sorted by sortSales
}

// TieredPrice is an amount with its tiers, as releases store it.
type TieredPrice struct {
	Minor       int64  `json:"amount"` // minor units
	IncludesTax bool   `json:"includes_tax"`
	Tiers       []Tier `json:"tiers,omitempty"` // by minimum quantity
}

// Tier is the price of one unit from a quantity on.
type Tier struct {
	Name            string `json:"name"`
	MinimumQuantity int    `json:"minimum_quantity"`
	Minor           int64  `json:"amount"`
}

// Offers returns a product's offers by currency. ofBook has its prices by price book. The first price book by priority with a
// price in the currency wins; if none has one, the first with a sale.
func Offers(ranked []catalog.RankedPricebook, ofBook map[string]*catalog.PriceSource) map[string]*Offer {
	found := map[string]*Offer{}
	for _, rank := range ranked {
		source := ofBook[rank.ID]
		if source == nil {
			continue
		}
		for code, o := range offersOf(source) {
			if before := found[code]; before == nil || before.Base == nil && o.Base != nil {
				found[code] = o
			}
		}
	}
	return found
}

// offersOf returns the offers of a price by currency.
func offersOf(p *catalog.PriceSource) map[string]*Offer {
	found := map[string]*Offer{}
	of := func(code string) *Offer {
		if found[code] == nil {
			found[code] = &Offer{PricebookID: p.Relationships.Pricebook.ID()}
		}
		return found[code]
	}
	for code, amount := range p.Attributes.Currencies {
		base := tieredPrice(amount)
		of(code).Base = &base
	}
	for name, s := range p.Attributes.Sales {
		for code, amount := range s.Currencies {
			o := of(code)
			o.Sales = append(o.Sales, Sale{ID: name, From: s.Schedule.From(), To: s.Schedule.To(), TieredPrice: tieredPrice(amount)})
		}
	}
	for _, o := range found {
		sortSales(o.Sales)
	}
	return found
}

// tieredPrice sorts the tiers of an amount, which are by name.
func tieredPrice(a catalog.AmountPrice) TieredPrice {
	kept := TieredPrice{Minor: a.Amount, IncludesTax: a.IncludesTax}
	for name, t := range a.Tiers {
		kept.Tiers = append(kept.Tiers, Tier{name, t.MinimumQuantity, t.Amount})
	}
	slices.SortFunc(kept.Tiers, func(a, b Tier) int { return cmp.Compare(a.MinimumQuantity, b.MinimumQuantity) })
	return kept
}
