package model

import (
	"context"
	"maps"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/release"
)

// FacetGroupKind is what the values of a FacetGroup are.
type FacetGroupKind string

// The kinds.
const (
	GroupTags         FacetGroupKind = "tags"
	GroupProductTypes FacetGroupKind = "product_types"
	GroupOption       FacetGroupKind = "option"
	GroupAttribute    FacetGroupKind = "attribute"
)

// FacetGroup is the values of a list's products for tags, product types, one variation or one attribute.
type FacetGroup struct {
	Key, Label string
	Kind       FacetGroupKind
	Values     []*FacetValue
}

// PriceFacet is the lowest and the highest price of a list.
type PriceFacet struct{ Min, Max *store.Money }

// MaxFacetGroups bounds the groups of a list, and the keys to choose them by.
const MaxFacetGroups = 50

// The keys of groups: those of options and attributes are followed by a name.
const (
	tagsKey         = "tags"
	productTypesKey = "productTypes"
	optionKey       = "option:"
	attributeKey    = "attribute:"
)

// Groups counts tags, product types, options and filterable attributes, at most MaxFacetGroups. Nil keys
// are all.
func (f *ProductFacets) Groups(ctx context.Context, keys []string, first int) ([]*FacetGroup, error) {
	if err := store.CheckLimit("first", first); err != nil {
		return nil, err
	}
	if len(keys) > MaxFacetGroups {
		return nil, store.Unprocessablef([]string{"keys"}, "must have at most %d keys, got %d", MaxFacetGroups, len(keys))
	}
	wanted := func(key string) bool { return keys == nil || slices.Contains(keys, key) }
	groups := []*FacetGroup{}
	add := func(group *FacetGroup, err error) error {
		if group != nil && len(group.Values) > 0 && len(groups) < MaxFacetGroups {
			groups = append(groups, group)
		}
		return err
	}
	for _, of := range []struct {
		key, label, attribute string
		kind                  FacetGroupKind
	}{{tagsKey, "Tags", "tags", GroupTags}, {productTypesKey, "Product types", "product_types", GroupProductTypes}} {
		if !wanted(of.key) {
			continue
		}
		values, err := f.values(ctx, of.attribute, first)
		if err := add(&FacetGroup{of.key, of.label, of.kind, values}, err); err != nil {
			return nil, err
		}
	}
	for _, facet := range []*namedFacet{f.options(), f.attributes()} {
		if err := facet.each(ctx, f, wanted, first, add); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// Price returns the prices of the list's products, without the filter's condition on the price.
func (f *ProductFacets) Price(ctx context.Context) (*PriceFacet, error) {
	filter := f.copyFilter()
	filter.Price = nil
	prices, err := Load(ctx, f.BatchRow, "price", f.count, func(count FacetSource, ctx context.Context, all []*ProductFacets) ([]*release.PriceRange, error) {
		list, err := count.query(filter, f.page)
		if err != nil {
			return nil, err
		}
		ids := nodeIDsOf(all)
		byNode, err := count.View.PriceRangeOfNodes(ctx, ids, list)
		return ValuesByKey(ids, byNode), err
	})
	if err != nil || prices == nil {
		return nil, err
	}
	return &PriceFacet{f.count.View.Money(prices.Min), f.count.View.Money(prices.Max)}, nil
}

// namedFacet is a facet whose values have names: variations, or keys of attributes.
type namedFacet struct {
	attribute string // of release.FacetGroupQuery
	prefix    string // of the groups' keys
	kind      FacetGroupKind
	names     func(*ProductFilter) []string                        // with a condition in a filter
	set       func(f *ProductFilter, name string, values []string) // replaces the conditions on a name; nil removes them
	selected  func(f *ProductFilter, name string) []string
}

// options returns the facet of the options of variations.
func (f *ProductFacets) options() *namedFacet {
	return &namedFacet{attribute: release.FacetOptions, prefix: optionKey, kind: GroupOption,
		names: func(f *ProductFilter) (names []string) {
			for _, o := range f.Option {
				names = append(names, o.Name)
			}
			return names
		},
		set: func(f *ProductFilter, name string, values []string) {
			f.Option = slices.DeleteFunc(slices.Clone(f.Option), func(o *OptionFilter) bool { return o.Name == name })
			if values != nil {
				f.Option = append(f.Option, &OptionFilter{name, values})
			}
		},
		selected: func(f *ProductFilter, name string) (values []string) {
			for _, o := range f.Option {
				if o.Name == name {
					values = append(values, o.In...)
				}
			}
			return values
		}}
}

// attributes returns the facet of the merchant's own attributes.
func (f *ProductFacets) attributes() *namedFacet {
	return &namedFacet{attribute: release.FacetAttributeValues, prefix: attributeKey, kind: GroupAttribute,
		names: func(f *ProductFilter) (names []string) {
			for _, a := range f.Attribute {
				names = append(names, a.Key)
			}
			return names
		},
		set: func(f *ProductFilter, name string, values []string) {
			f.Attribute = slices.DeleteFunc(slices.Clone(f.Attribute), func(a *AttributeFilter) bool { return a.Key == name })
			if values != nil {
				f.Attribute = append(f.Attribute, &AttributeFilter{Key: name, In: values})
			}
		},
		selected: func(f *ProductFilter, name string) (values []string) {
			for _, a := range f.Attribute {
				if a.Key == name {
					values = append(values, a.In...)
				}
			}
			return values
		}}
}

// each calls add with the groups by name. Groups without a condition of their own are counted at once,
// any other by itself, without its condition.
func (n *namedFacet) each(ctx context.Context, f *ProductFacets, wanted func(key string) bool, first int, add func(*FacetGroup, error) error) error {
	base := f.copyFilter()
	byName := map[string][]release.FacetValue{}
	counted, err := n.count(ctx, f, base, "")
	if err != nil {
		return err
	}
	for _, group := range counted {
		byName[group.Name] = group.Values
	}
	for _, name := range store.Unique(n.names(&base)) {
		if !wanted(n.prefix + name) {
			continue
		}
		without := base
		n.set(&without, name, nil)
		own, err := n.count(ctx, f, without, name)
		if err != nil {
			return err
		}
		if byName[name] = nil; len(own) > 0 {
			byName[name] = own[0].Values
		}
	}
	labels, err := f.definitions(ctx, n.kind)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if wanted(n.prefix + name) {
			if err := add(n.group(base, name, labels[name], byName[name], first), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts all groups, or one by its name.
func (n *namedFacet) count(ctx context.Context, f *ProductFacets, filter ProductFilter, name string) ([]release.FacetGroup, error) {
	return LoadBy(ctx, f.BatchRow, cachekey.New("groups", n.prefix, name), f.count, func(count FacetSource, ctx context.Context, all []*ProductFacets) ([][]release.FacetGroup, error) {
		list, err := count.query(filter, f.page)
		if err != nil {
			return nil, err
		}
		ids := nodeIDsOf(all)
		byNode, err := count.View.FacetGroupsOfNodes(ctx, ids, release.FacetGroupQuery{Attribute: n.attribute, Name: name, List: list})
		return ValuesByKey(ids, byNode), err
	})
}

// group returns a group with its first and its selected values. definition is nil for a variation.
func (n *namedFacet) group(filter ProductFilter, name string, definition *release.AttributeDefinition, counted []release.FacetValue, first int) *FacetGroup {
	group := &FacetGroup{Key: n.prefix + name, Label: name, Kind: n.kind}
	selected := n.selected(&filter, name)
	unit := ""
	if definition != nil {
		group.Label = definition.Label
		if selected = definition.Canonical(selected); definition.Unit != nil {
			unit = " " + *definition.Unit
		}
	}
	with := func(values []string) *ProductFilterValues {
		changed := filter
		n.set(&changed, name, values)
		return &ProductFilterValues{changed}
	}
	for _, c := range release.PickFacet(counted, selected, first) {
		var toggledValues []string
		if to := toggled(selected, c.Value); to != nil {
			toggledValues = to.In
		}
		group.Values = append(group.Values, &FacetValue{Value: c.Value, Label: c.Value + unit, Count: c.Count, Selected: slices.Contains(selected, c.Value),
			Filter: with([]string{c.Value}), Toggled: with(toggledValues)})
	}
	return group
}

// definitions returns the declarations by key, if groups of the kind have some. All lists of the batch share
// them.
func (f *ProductFacets) definitions(ctx context.Context, kind FacetGroupKind) (map[string]*release.AttributeDefinition, error) {
	if kind != GroupAttribute {
		return nil, nil
	}
	return Load(ctx, f.BatchRow, "definitions", f.count, func(count FacetSource, ctx context.Context, all []*ProductFacets) ([]map[string]*release.AttributeDefinition, error) {
		list, err := count.View.AttributeDefinitions(ctx)
		byKey := make(map[string]*release.AttributeDefinition, len(list))
		for _, d := range list {
			byKey[d.Key] = d
		}
		return slices.Repeat([]map[string]*release.AttributeDefinition{byKey}, len(all)), err
	})
}
