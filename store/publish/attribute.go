package publish

import (
	"encoding/json"
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// builtAttributes are a product's values of its own attributes.
type builtAttributes struct {
	stored     []byte                 // for BlockProduct.Attributes
	filterable []string               // by segment.NamedValue
	orders     map[store.SortBy]int64 // of numbers and dates to filter or sort by
	searchable string                 // texts to search in
}

// attributesOf reads a product's values. It leaves out those that have no declaration or do not fit it.
func (p *publicationPlan) attributesOf(source *catalog.ProductSource) (b builtAttributes) {
	values := source.Attributes.CustomAttributes
	kept := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		declared := p.attributes.Get(key)
		if declared == nil {
			continue
		}
		value, ok := declared.Value(values[key])
		if !ok {
			continue
		}
		kept[key] = values[key]
		is := declared.Attributes
		for _, text := range value.Texts {
			if is.Filterable {
				b.filterable = append(b.filterable, segment.NamedValue(key, text))
			}
			if is.Searchable {
				b.searchable += "\n" + text
			}
		}
		if is.AttributeType.Ordered() && (is.Filterable || is.Sortable) {
			if b.orders == nil {
				b.orders = map[store.SortBy]int64{}
			}
			b.orders[segment.SortOfAttribute(key)] = value.Order
		}
	}
	if len(kept) > 0 {
		b.stored = store.Encode(kept)
	}
	return b
}

// optionsOf returns the options that a product is found by: its own as a child, and those of its live
// children. Names are in the base language.
func (p *publicationPlan) optionsOf(variants *catalog.Variants, children []uint32, sources map[uint32]*catalog.ProductSource) (values []string) {
	add := func(chosen []catalog.Variation) {
		for _, variation := range chosen {
			values = append(values, segment.NamedValue(variation.Name, variation.Option.Name))
		}
	}
	add(variants.Chosen)
	for _, child := range children {
		add(catalog.ChooseOptions(variants.Variations, sources[child].Attributes.Options))
	}
	return store.Unique(values)
}
