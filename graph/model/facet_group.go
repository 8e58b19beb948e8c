package model

import (
	"context"
	"maps"
	"slices"
	"strings"

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

// MaxFacetGroups bounds the groups of a list, and the keys to choose them by.
const MaxFacetGroups = 50

// Groups counts tags, product types, options and filterable attributes, in this order, at most MaxFacetGroups, each with its first
// values. It leaves out groups without values, and those that keys does not have; nil keys are all.
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
		values, err := f.values(ctx, of.attribute, of.key, first)
		if err := add(&FacetGroup{of.key, of.label, of.kind, values}, err); err != nil {
			return nil, err
		}
	}
	for _, facet := range []namedFacet{
		{attribute: release.FacetOptions, prefix: optionKey, kind: GroupOption},
		{attribute: release.FacetAttributeValues, prefix: attributeKey, kind: GroupAttribute},
	} {
		if keys != nil && !slices.ContainsFunc(keys, func(key string) bool { return strings.HasPrefix(key, facet.prefix) }) {
			continue
		}
		if err := facet.each(ctx, f, wanted, first, add); err != nil {
			return nil, err
		}
	}
	return groups, nil
}

// MinPrice returns the lowest price of the list's products, without the filter's condition on the price; nil for none.
func (f *ProductFacets) MinPrice(ctx context.Context) (*store.Money, error) {
	prices, err := f.prices(ctx)
	if prices == nil {
		return nil, err
	}
	return f.count.View.Money(prices.Min), nil
}

// MaxPrice returns the highest, likewise.
func (f *ProductFacets) MaxPrice(ctx context.Context) (*store.Money, error) {
	prices, err := f.prices(ctx)
	if prices == nil {
		return nil, err
	}
	return f.count.View.Money(prices.Max), nil
}

// prices returns the range of MinPrice and MaxPrice, which is read once.
func (f *ProductFacets) prices(ctx context.Context) (*release.PriceRange, error) {
	conditions := f.conditions
	if conditions.Given != nil {
		given := *conditions.Given
		given.Price, conditions.Given = nil, &given
	}
	return Load(ctx, f.BatchRow, "price", f.count, func(count FacetSource, ctx context.Context, all []*ProductFacets) ([]*release.PriceRange, error) {
		list, err := count.query(conditions, f.page)
		if err != nil {
			return nil, err
		}
		ids := nodeIDsOf(all)
		byNode, err := count.View.PriceRangeOfNodes(ctx, ids, list)
		return ValuesByKey(ids, byNode), err
	})
}

// namedFacet is a facet whose values have names: variations, or keys of attributes.
type namedFacet struct {
	attribute string // of release.FacetGroupQuery
	prefix    string // of the groups' keys
	kind      FacetGroupKind
}

// each calls add with the groups by name. Groups of which nothing is chosen are counted at once, any other
// by itself, without its choices.
func (n namedFacet) each(ctx context.Context, f *ProductFacets, wanted func(key string) bool, first int, add func(*FacetGroup, error) error) error {
	byName := map[string][]release.FacetValue{}
	counted, err := n.count(ctx, f, "")
	if err != nil {
		return err
	}
	for _, group := range counted {
		byName[group.Name] = group.Values
	}
	for _, choice := range f.conditions.Chosen.choices {
		name, ok := strings.CutPrefix(choice.key, n.prefix)
		if !ok || !wanted(choice.key) {
			continue
		}
		own, err := n.count(ctx, f, name)
		if err != nil {
			return err
		}
		if byName[name] = nil; len(own) > 0 {
			byName[name] = own[0].Values
		}
	}
	definitions, err := f.definitions(ctx, n.kind)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if wanted(n.prefix + name) {
			if err := add(n.group(f, name, definitions[name], byName[name], first), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// count counts all groups with all choices if name is empty, else the group of a name without its own choices.
func (n namedFacet) count(ctx context.Context, f *ProductFacets, name string) ([]release.FacetGroup, error) {
	return LoadBy(ctx, f.BatchRow, cachekey.New("groups", n.prefix, name), f.count, func(count FacetSource, ctx context.Context, all []*ProductFacets) ([][]release.FacetGroup, error) {
		conditions := f.conditions
		if name != "" {
			conditions = conditions.without(n.prefix + name)
		}
		list, err := count.query(conditions, f.page)
		if err != nil {
			return nil, err
		}
		ids := nodeIDsOf(all)
		byNode, err := count.View.FacetGroupsOfNodes(ctx, ids, release.FacetGroupQuery{Attribute: n.attribute, Name: name, List: list})
		return ValuesByKey(ids, byNode), err
	})
}

// group returns a group with its first and its selected values. definition is nil for a variation.
func (n namedFacet) group(f *ProductFacets, name string, definition *release.AttributeDefinition, counted []release.FacetValue, first int) *FacetGroup {
	group := &FacetGroup{Key: n.prefix + name, Label: name, Kind: n.kind}
	selected := f.conditions.Chosen.values(group.Key)
	unit := ""
	if definition != nil {
		group.Label = definition.Label
		if selected = definition.Canonical(selected); definition.Unit != nil {
			unit = " " + *definition.Unit
		}
	}
	group.Values = f.valuesOf(group.Key, unit, selected, release.PickFacet(counted, selected, first))
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
