package catalog

import (
	"slices"

	"portico/store"
)

// PriceModifierType is how a price modifier changes a parent's price.
type PriceModifierType string

// The types.
const (
	PriceIncrement PriceModifierType = "price_increment" // adds to it
	PriceDecrement PriceModifierType = "price_decrement" // takes from it, down to nothing
	PriceEquals    PriceModifierType = "price_equals"    // replaces it
)

// Modified is the parent's offer in a currency as a child has it, after its
// modifiers in order; on the base price, sales and tiers alike (DESIGN 8). A
// modifier that does not exist, or has no amount in the currency, changes
// nothing. If the modifiers make every sale equal to the base price, as
// price_equals does, the child has no sales.
func (o *Offer) Modified(currency string, modifiers []*ModifierSource) *Offer {
	child := &Offer{PricebookID: o.PricebookID}
	if o.Base != nil {
		base := o.Base.modified(currency, modifiers)
		child.Base = &base
	}
	for _, s := range o.Sales {
		s.Asked = s.Asked.modified(currency, modifiers)
		child.Sales = append(child.Sales, s)
	}
	if o.hasReductions() && !child.hasReductions() {
		child.Sales = nil
	}
	return child
}

// hasReductions reports whether a sale asks for anything but the base price.
func (o *Offer) hasReductions() bool {
	return slices.ContainsFunc(o.Sales, func(s Sale) bool {
		return o.Base == nil || s.Minor != o.Base.Minor || s.IncludesTax != o.Base.IncludesTax || !slices.Equal(s.ownTiers(), o.Base.ownTiers())
	})
}

// ownTiers are the tiers with another amount than one unit has.
func (a *Asked) ownTiers() (tiers []Tier) {
	for _, t := range a.Tiers {
		if t.Minor != a.Minor {
			tiers = append(tiers, t)
		}
	}
	return tiers
}

func (a Asked) modified(currency string, modifiers []*ModifierSource) Asked {
	tiers := make([]Tier, len(a.Tiers))
	copy(tiers, a.Tiers)
	for _, m := range modifiers {
		by, ok := m.Attributes.Currencies[currency]
		if !ok {
			continue
		}
		a.Minor = m.modify(a.Minor, by.Amount)
		for i := range tiers {
			tiers[i].Minor = m.modify(tiers[i].Minor, by.Amount)
		}
		if m.Attributes.ModifierType == PriceEquals {
			a.IncludesTax = by.IncludesTax
		}
	}
	a.Tiers = tiers
	return a
}

// modify changes minor units, within the bounds of amounts.
func (m *ModifierSource) modify(minor, by int64) int64 {
	switch m.Attributes.ModifierType {
	case PriceIncrement:
		return min(minor+by, store.MaxAmount)
	case PriceDecrement:
		return max(minor-by, 0)
	}
	return by
}

// appendModifiers appends the object {"name":{"modifier_type":…,"currencies":{…}}}
// of those modifiers that exist.
func appendModifiers(dst []byte, modifiers []*ModifierSource) []byte {
	dst = append(dst, '{')
	for _, m := range modifiers {
		dst = append(store.AppendKey(dst, m.Attributes.Name), '{')
		dst = store.AppendMember(dst, "modifier_type", string(m.Attributes.ModifierType))
		dst = append(append(store.AppendName(dst, "currencies"), store.Encode(m.Attributes.Currencies)...), '}')
	}
	return append(dst, '}')
}
