package publish

import (
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
	orders     map[store.SortBy]int64 // of numbers and dates to filter or sort by; nil for none
	searchable string                 // texts to search in, each after a line break
}

// attributesOf reads a product's values. It leaves out those that have no declaration or do not fit it.
func (p *publicationPlan) attributesOf(source *catalog.ProductSource) (b builtAttributes) {
	b.stored = p.declaredValues(source.OwnAttributes(), func(declared *catalog.AttributeSource, value catalog.AttributeValue) {
		is := declared.Attributes
		for _, text := range value.Texts {
			if is.Filterable {
				b.filterable = append(b.filterable, segment.NamedValue(declared.ID, text))
			}
			if is.Searchable {
				b.searchable += "\n" + text
			}
		}
		if is.AttributeType.Ordered() && (is.Filterable || is.Sortable) {
			if b.orders == nil {
				b.orders = map[store.SortBy]int64{}
			}
			b.orders[segment.SortOfAttribute(declared.ID)] = value.Order
		}
	})
	return b
}

// declaredValues calls each with the values that have a declaration and fit it, by key, and returns them as JSON; nil for none.
func (p *publicationPlan) declaredValues(values catalog.CustomAttributes, each func(*catalog.AttributeSource, catalog.AttributeValue)) []byte {
	kept := catalog.CustomAttributes{}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		declared := p.attributes.Get(key)
		if declared == nil {
			continue
		}
		if value, ok := declared.Value(values[key]); ok {
			kept[key] = values[key]
			each(declared, value)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return store.Encode(kept)
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
