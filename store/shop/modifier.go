package shop

import (
	"maps"
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

// PriceModifier is a modifier of a child, with its amounts by currency.
type PriceModifier struct {
	Name         string
	ModifierType PriceModifierType
	Amounts      []*Price // by currency
}

// modified is the parent's offer in a currency as a child has it, after its
// modifiers in order; on the base price, sales and tiers alike (DESIGN 8). A
// modifier that does not exist, or has no amount in the currency, changes
// nothing.
func (o *offer) modified(currency string, modifiers []*modifierSource) *offer {
	child := &offer{PricebookID: o.PricebookID}
	if o.Base != nil {
		base := o.Base.modified(currency, modifiers)
		child.Base = &base
	}
	for _, s := range o.Sales {
		s.asked = s.asked.modified(currency, modifiers)
		child.Sales = append(child.Sales, s)
	}
	return child
}

func (a asked) modified(currency string, modifiers []*modifierSource) asked {
	tiers := make([]tier, len(a.Tiers))
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
func (m *modifierSource) modify(minor, by int64) int64 {
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
func appendModifiers(dst []byte, modifiers []*modifierSource) []byte {
	dst = append(dst, '{')
	for _, m := range modifiers {
		dst = append(store.AppendKey(dst, m.Attributes.Name), '{')
		dst = store.AppendMember(dst, "modifier_type", string(m.Attributes.ModifierType))
		dst = append(append(store.AppendName(dst, "currencies"), store.Encode(m.Attributes.Currencies)...), '}')
	}
	return append(dst, '}')
}

// modifierDocument is a modifier as a document tells it.
type modifierDocument struct {
	ModifierType PriceModifierType      `json:"modifier_type"`
	Currencies   map[string]amountPrice `json:"currencies"`
}

// Modifiers are the price modifiers of a child that exist, in the order in
// which they change its price.
func (r *released) Modifiers() []PriceModifier {
	var list []PriceModifier
	for _, name := range store.Unique(r.PriceModifiers()) {
		m, exists := r.read().Meta.PriceModifiers[name]
		if !exists {
			continue
		}
		modifier := PriceModifier{Name: name, ModifierType: m.ModifierType}
		for _, code := range slices.Sorted(maps.Keys(m.Currencies)) {
			amount := m.Currencies[code]
			modifier.Amounts = append(modifier.Amounts, &Price{Minor: amount.Amount, Currency: code, IncludesTax: amount.IncludesTax})
		}
		list = append(list, modifier)
	}
	return list
}
