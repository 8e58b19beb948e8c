package price

import (
	"slices"

	"portico/store"
	"portico/store/catalog"
)

// WithModifiers returns a child's offer: the parent's offer in a currency after the child's
// modifiers, in order, applied to base price, sales and tiers. Modifiers that do not exist
// or have no amount in the currency change nothing. If all sales then equal the base price,
// as with price_equals, the child has none.
func (o *Offer) WithModifiers(currency string, modifiers []*catalog.ModifierSource) *Offer {
	child := &Offer{PricebookID: o.PricebookID}
	if o.Base != nil {
		base := o.Base.withModifiers(currency, modifiers)
		child.Base = &base
	}
	for _, s := range o.Sales {
		s.TieredPrice = s.TieredPrice.withModifiers(currency, modifiers)
		child.Sales = append(child.Sales, s)
	}
	if o.hasReductions() && !child.hasReductions() {
		child.Sales = nil
	}
	return child
}

// hasReductions reports whether a sale differs from the base price.
func (o *Offer) hasReductions() bool {
	return slices.ContainsFunc(o.Sales, func(s Sale) bool {
		return o.Base == nil || s.Minor != o.Base.Minor || s.IncludesTax != o.Base.IncludesTax || !slices.Equal(s.effectiveTiers(), o.Base.effectiveTiers())
	})
}

// effectiveTiers returns the tiers whose amount differs from that of one unit.
func (a *TieredPrice) effectiveTiers() (tiers []Tier) {
	for _, t := range a.Tiers {
		if t.Minor != a.Minor {
			tiers = append(tiers, t)
		}
	}
	return tiers
}

// withModifiers returns the price after modifiers. It does not change the tiers of a, which offers share.
func (a TieredPrice) withModifiers(currency string, modifiers []*catalog.ModifierSource) TieredPrice {
	tiers := make([]Tier, len(a.Tiers))
	copy(tiers, a.Tiers)
	for _, m := range modifiers {
		by, ok := m.Attributes.Currencies[currency]
		if !ok {
			continue
		}
		a.Minor = modify(m, a.Minor, by.Amount)
		for i := range tiers {
			tiers[i].Minor = modify(m, tiers[i].Minor, by.Amount)
		}
		if m.Attributes.ModifierType == catalog.PriceEquals {
			a.IncludesTax = by.IncludesTax
		}
	}
	a.Tiers = tiers
	return a
}

// modify changes an amount within the allowed range, 0 to store.MaxAmount. PriceEquals replaces it.
func modify(m *catalog.ModifierSource, minor, by int64) int64 {
	switch m.Attributes.ModifierType {
	case catalog.PriceIncrement:
		return min(minor+by, store.MaxAmount)
	case catalog.PriceDecrement:
		return max(minor-by, 0)
	}
	return by
}
