package catalog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"portico/store"
	"portico/store/db"
)

// Pricebook is a price book as authored: a set of prices, which catalogs use.
type Pricebook struct {
	ID, Name, Description string
	sourceSize
}

// GlobalID returns the price book's global id.
func (p *Pricebook) GlobalID() string { return store.GlobalID(store.TypePricebook, p.ID) }

func pricebookOf(s *pricebookSource, size sourceSize) *Pricebook {
	return &Pricebook{s.ID, s.Attributes.Name, s.Attributes.Description, size}
}

// AuthoredPrice is the price of a SKU in a price book as authored, with its sales.
type AuthoredPrice struct {
	ID, PricebookID, SKU string
	Amounts              []AuthoredAmount // by currency
	Sales                []AuthoredSale   // by name
	sourceSize
}

// AuthoredAmount is an amount in a currency, in minor units.
type AuthoredAmount struct {
	Currency    string
	Minor       int64
	IncludesTax bool
	Tiers       []AuthoredTier // by minimum quantity
}

// AuthoredTier is the amount of each unit from a quantity on.
type AuthoredTier struct {
	Name            string
	MinimumQuantity int
	Currency        string
	Minor           int64
}

// AuthoredSale is a sale of a price, from ValidFrom until just before ValidTo; nil is open.
type AuthoredSale struct {
	Name               string
	ValidFrom, ValidTo *time.Time
	Amounts            []AuthoredAmount // by currency
}

// GlobalID returns the global id of the authored price.
func (p *AuthoredPrice) GlobalID() string { return store.GlobalID(store.TypeAuthoredPrice, p.ID) }

func authoredPriceOf(s *PriceSource, size sourceSize) *AuthoredPrice {
	p := &AuthoredPrice{s.ID, s.Relationships.Pricebook.ID(), s.Attributes.SKU, authoredAmounts(s.Attributes.Currencies), nil, size}
	for _, name := range slices.Sorted(maps.Keys(s.Attributes.Sales)) {
		sale := s.Attributes.Sales[name]
		p.Sales = append(p.Sales, AuthoredSale{name, timeOrNil(sale.Schedule.ValidFrom), timeOrNil(sale.Schedule.ValidTo), authoredAmounts(sale.Currencies)})
	}
	return p
}

// AuthoredPriceModifier is a price modifier as authored. Products name it by its name.
type AuthoredPriceModifier struct {
	ID, Name     string
	ModifierType PriceModifierType
	Amounts      []AuthoredAmount // by currency
	sourceSize
}

// GlobalID returns the global id of the authored price modifier.
func (m *AuthoredPriceModifier) GlobalID() string {
	return store.GlobalID(store.TypeAuthoredModifier, m.ID)
}

func authoredModifierOf(s *ModifierSource, size sourceSize) *AuthoredPriceModifier {
	return &AuthoredPriceModifier{s.ID, s.Attributes.Name, s.Attributes.ModifierType, authoredAmounts(s.Attributes.Currencies), size}
}

// authoredAmounts returns amounts by currency, and their tiers by minimum quantity.
func authoredAmounts(currencies map[string]AmountPrice) (amounts []AuthoredAmount) {
	for _, code := range slices.Sorted(maps.Keys(currencies)) {
		price := currencies[code]
		amount := AuthoredAmount{Currency: code, Minor: price.Amount, IncludesTax: price.IncludesTax}
		for name, tier := range price.Tiers {
			amount.Tiers = append(amount.Tiers, AuthoredTier{name, tier.MinimumQuantity, code, tier.Amount})
		}
		slices.SortFunc(amount.Tiers, func(a, b AuthoredTier) int { return cmp.Compare(a.MinimumQuantity, b.MinimumQuantity) })
		amounts = append(amounts, amount)
	}
	return amounts
}

// PriceFilter selects prices. Both members must match.
type PriceFilter struct {
	PricebookID *string  // of this price book; nil is any
	SKUs        []string // of these SKUs, at most MaxFilterValues; nil is any
}

// AuthoredPrices lists the prices that match a filter, by id. It returns INVALID for too many SKUs.
func (s *Service) AuthoredPrices(ctx context.Context, filter PriceFilter, page store.Page) (*store.Slice[*AuthoredPrice], error) {
	var conditions []db.Condition
	if filter.PricebookID != nil {
		conditions = append(conditions, db.OneOf("pricebook_id", store.ValidIDs([]string{*filter.PricebookID})))
	}
	if skus := filter.SKUs; skus != nil {
		if len(skus) > store.MaxFilterValues {
			return nil, store.Invalidf([]string{"filter", "skus"}, "must have at most %d SKUs, got %d", store.MaxFilterValues, len(skus))
		}
		conditions = append(conditions, db.OneOf("sku", storable(skus)))
	}
	return s.Prices.List(ctx, page, conditions...)
}

// PricesOfSKUs returns the prices of SKUs in all price books, by price book, then id.
func (s *Service) PricesOfSKUs(ctx context.Context, skus []string) (map[string][]*AuthoredPrice, error) {
	prices, err := db.CollectIn(ctx, s.db.Reader, s.Prices.listing.Scan, slices.Sorted(slices.Values(skus)), `SELECT body FROM price WHERE sku IN ($in) ORDER BY sku, pricebook_id, id`)
	if err == nil {
		err = chargeTexts(ctx, slices.Values(prices))
	}
	if err != nil {
		return nil, err
	}
	bySKU := map[string][]*AuthoredPrice{}
	for _, p := range prices {
		bySKU[p.SKU] = append(bySKU[p.SKU], p)
	}
	return bySKU, nil
}
