package release

import (
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
)

// PriceModifier is a modifier of a child, with its amounts by currency.
type PriceModifier struct {
	Name         string
	ModifierType catalog.PriceModifierType
	Amounts      []*Price // by currency
}

// modifierDocument is a modifier as a document tells it.
type modifierDocument struct {
	ModifierType catalog.PriceModifierType      `json:"modifier_type"`
	Currencies   map[string]catalog.AmountPrice `json:"currencies"`
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
