package release

import (
	"slices"

	"portico/store"
	"portico/store/catalog"
)

// filterAttribute is an attribute that products can be filtered by.
type filterAttribute struct {
	Name    string                                    // in REST
	Values  func(*catalog.ProductAttributes) []string // of a product, of which empty ones do not count; nil for id, which needs no index
	Counted bool                                      // products can be counted by it: it is a facet
}

// matchesByChildren reports whether a list of parents finds a parent by the attribute of its children. Facets count parents by their
// own values, and so do filters by these.
func (a filterAttribute) matchesByChildren() bool { return a.Values != nil && !a.Counted }

// Filterable are the attributes that publishing indexes, and that REST and
// GraphQL can filter by.
var Filterable = slices.Concat([]filterAttribute{
	{Name: "id"},
	{Name: "name", Values: func(a *catalog.ProductAttributes) []string { return []string{a.Name} }},
	{Name: "sku", Values: func(a *catalog.ProductAttributes) []string { return []string{a.SKU} }},
	{Name: "slug", Values: func(a *catalog.ProductAttributes) []string { return []string{a.Slug} }},
}, filterableTexts(), []filterAttribute{
	{Name: "product_types", Values: func(a *catalog.ProductAttributes) []string { return store.Unique(a.ProductTypes) }, Counted: true},
	{Name: "tags", Values: func(a *catalog.ProductAttributes) []string { return store.Unique(a.Tags) }, Counted: true},
})

func filterableTexts() (list []filterAttribute) {
	for i, m := range catalog.ProductTextMembers {
		if m.Filterable {
			list = append(list, filterAttribute{Name: m.Name, Values: func(a *catalog.ProductAttributes) []string { return []string{*a.ProductTexts.All()[i]} }})
		}
	}
	return list
}

// FilterAttributes returns the attributes that products can be filtered by. tags
// and product_types have several values. Texts are in the base language, and are
// compared byte by byte.
func FilterAttributes() []string {
	return namesOf(func(filterAttribute) bool { return true })
}

// FacetAttributes returns the attributes that products can be counted by.
func FacetAttributes() []string { return namesOf(func(a filterAttribute) bool { return a.Counted }) }

func namesOf(wanted func(filterAttribute) bool) (names []string) {
	for _, a := range Filterable {
		if wanted(a) {
			names = append(names, a.Name)
		}
	}
	return names
}
