package release

import (
	"portico/store"
	"portico/store/catalog"
)

// filterAttribute is what the products of a catalog can be filtered by.
type filterAttribute struct {
	Name    string                                    // as the contract spells it
	Values  func(*catalog.ProductAttributes) []string // a product's; an empty one is none. nil for id, which needs no index
	Counted bool                                      // a facet: products can be counted by it too
}

// Filterable are all there are: publishing indexes them, and both
// surfaces take them.
var Filterable = []filterAttribute{
	{Name: "id"},
	{Name: "name", Values: func(a *catalog.ProductAttributes) []string { return []string{a.Name} }},
	{Name: "sku", Values: func(a *catalog.ProductAttributes) []string { return []string{a.SKU} }},
	{Name: "slug", Values: func(a *catalog.ProductAttributes) []string { return []string{a.Slug} }},
	{Name: "manufacturer_part_num", Values: func(a *catalog.ProductAttributes) []string { return []string{a.ManufacturerPartNum} }},
	{Name: "upc_ean", Values: func(a *catalog.ProductAttributes) []string { return []string{a.UPCEAN} }},
	{Name: "product_types", Values: func(a *catalog.ProductAttributes) []string { return store.Unique(a.ProductTypes) }, Counted: true},
	{Name: "tags", Values: func(a *catalog.ProductAttributes) []string { return store.Unique(a.Tags) }, Counted: true},
}

// FilterAttributes are what the products of a catalog can be filtered by
// (spec: Filtering operators). tags and product_types hold several values;
// the texts are the base ones, compared byte by byte.
func FilterAttributes() []string {
	return namesOf(func(filterAttribute) bool { return true })
}

// FacetAttributes are what the products of a list can be counted by.
func FacetAttributes() []string { return namesOf(func(a filterAttribute) bool { return a.Counted }) }

func namesOf(wanted func(filterAttribute) bool) (names []string) {
	for _, a := range Filterable {
		if wanted(a) {
			names = append(names, a.Name)
		}
	}
	return names
}
