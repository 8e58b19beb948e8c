package shop

import "portico/store"

// filterAttribute is what the products of a catalog can be filtered by.
type filterAttribute struct {
	name    string                            // as the contract spells it
	values  func(*ProductAttributes) []string // a product's; an empty one is none. nil for id, which needs no index
	counted bool                              // a facet: products can be counted by it too
}

// filterAttributes are all there are: publishing indexes them, and both
// surfaces take them.
var filterAttributes = []filterAttribute{
	{name: "id"},
	{name: "name", values: func(a *ProductAttributes) []string { return []string{a.Name} }},
	{name: "sku", values: func(a *ProductAttributes) []string { return []string{a.SKU} }},
	{name: "slug", values: func(a *ProductAttributes) []string { return []string{a.Slug} }},
	{name: "manufacturer_part_num", values: func(a *ProductAttributes) []string { return []string{a.ManufacturerPartNum} }},
	{name: "upc_ean", values: func(a *ProductAttributes) []string { return []string{a.UPCEAN} }},
	{name: "product_types", values: func(a *ProductAttributes) []string { return store.Unique(a.ProductTypes) }, counted: true},
	{name: "tags", values: func(a *ProductAttributes) []string { return store.Unique(a.Tags) }, counted: true},
}

// FilterAttributes are what the products of a catalog can be filtered by
// (spec: Filtering operators). tags and product_types hold several values;
// the texts are the base ones, compared byte by byte.
func FilterAttributes() []string {
	return namesOf(func(filterAttribute) bool { return true })
}

// FacetAttributes are what the products of a list can be counted by.
func FacetAttributes() []string { return namesOf(func(a filterAttribute) bool { return a.counted }) }

func namesOf(wanted func(filterAttribute) bool) (names []string) {
	for _, a := range filterAttributes {
		if wanted(a) {
			names = append(names, a.name)
		}
	}
	return names
}
