package rule

import (
	"encoding/json"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/authoring"
)

// Terms are the members of a schema that say which items a promotion needs and takes something off.
// Members without a meaning for the type are zero.
type Terms struct {
	Targets      []string      // SKUs; nil means all
	X, Y         int           // x items for the price of y, or for an amount
	Gifts        []string      // SKUs
	Requirements []Requirement // parts of a bundle
}

// Requirement is a part of a bundle: a quantity of some SKUs.
type Requirement struct {
	Targets  []string `json:"skus,omitzero"` // nil means any
	Quantity int      `json:"quantity"`
	// ofRequirements is true for a member of requirements, and false for a group of targets, the older form.
	ofRequirements bool
}

// Terms decodes the schema, unless FindAutomatic did. What fails today's checks in an old schema is left out.
func (p *Promotion) Terms() (t Terms) {
	if p.terms != nil {
		return *p.terms
	}
	var s termsSchema
	_ = store.DecodeJSON(p.Schema, &s)
	switch p.Type {
	case XForY:
		t.X, t.Y = s.X, s.Y
	case XForAmount:
		t.X = s.X
	case BundleGift:
		t.Gifts = s.Gifts
	}
	switch {
	case isBundle(p.Type):
		t.Requirements = s.requirements()
	case p.HasItems():
		t.Targets = targetSKUs(s.Targets)
	}
	return t
}

// requirements returns the parts of a bundle, of both forms.
func (s *termsSchema) requirements() (parts []Requirement) {
	for _, part := range s.Requirements {
		parts = append(parts, Requirement{targetSKUs(part.Targets), part.Quantity, true})
	}
	var groups []json.RawMessage
	_ = json.Unmarshal(s.Targets, &groups) // "all" has no groups
	for i, group := range groups[:min(len(groups), len(s.Quantities))] {
		parts = append(parts, Requirement{targetSKUs(group), s.Quantities[i], false})
	}
	return parts
}

// targetSKUs returns the SKUs of a list; nil for all, which is null, "all" or an absent list.
func targetSKUs(raw json.RawMessage) []string {
	if len(raw) == 0 || string(raw) == "null" || string(raw) == allTargets {
		return nil
	}
	list := []string{}
	_ = json.Unmarshal(raw, &list) // what is no list of SKUs targets nothing
	return list
}

// HasItems reports whether the promotion is about items of a cart, not about the cart.
func (p *Promotion) HasItems() bool { return p.Type != FixedDiscount && p.Type != PercentDiscount }

// InCatalog reports whether the promotion applies to a catalog.
func (p *Promotion) InCatalog(id string) bool {
	return p.TargetCatalogs == nil || slices.Contains(p.TargetCatalogs, id)
}

// TargetsAll reports whether the promotion is about all items.
func (p *Promotion) TargetsAll() bool {
	terms := p.Terms()
	if !isBundle(p.Type) {
		return terms.Targets == nil
	}
	return slices.ContainsFunc(terms.Requirements, func(r Requirement) bool { return r.Targets == nil })
}

// SKUList is a list of SKUs in a promotion, and the path of the member of its schema that has it.
type SKUList struct {
	Path []string
	SKUs []string
}

// SKULists returns the SKUs that the promotion names: targets, gifts and the parts of bundles.
func (p *Promotion) SKULists() []SKUList {
	terms := p.Terms()
	lists := []SKUList{{[]string{"schema", "targets"}, terms.Targets}, {[]string{"schema", "gifts"}, terms.Gifts}}
	for i, r := range terms.Requirements {
		path := []string{"schema", "targets", strconv.Itoa(i)}
		if r.ofRequirements {
			path = []string{"schema", "requirements", strconv.Itoa(i), "targets"}
		}
		lists = append(lists, SKUList{path, r.Targets})
	}
	return slices.DeleteFunc(lists, func(l SKUList) bool { return len(l.SKUs) == 0 })
}

// CurrencyWarnings returns a warning for each currency of the promotion that ISO 4217 does not have, by its path in a source.
func (p *Promotion) CurrencyWarnings() store.Errors {
	f := &authoring.Validator{}
	check := func(member string, i int, currency string) {
		f.Currency(member+"."+strconv.Itoa(i)+".currency", currency)
	}
	for i, a := range p.MinCartValue {
		check("min_cart_value", i, a.Currency)
	}
	for i, a := range p.MaxDiscountValue {
		check("max_discount_value", i, a.Currency)
	}
	for i, c := range p.Currencies {
		check("schema.currencies", i, c.Currency)
	}
	return f.Warnings
}
