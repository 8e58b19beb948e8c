package release

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// AttributeDefinition is the declaration of an attribute of the merchant's own, in the shopper's language.
type AttributeDefinition struct {
	Key, Label                       string
	Type                             catalog.AttributeType
	Unit                             *string // nil without one
	Filterable, Searchable, Sortable bool
}

// AttributeValue is a value of an attribute, of a product or node.
type AttributeValue struct {
	Key, Label string
	Type       catalog.AttributeType
	Values     []string // as filters write them; several only for a list
	Unit       *string  // nil without one
}

// Value returns the value as text, those of a list separated by commas.
func (a *AttributeValue) Value() string { return strings.Join(a.Values, ", ") }

// AttributeDefinitions returns the attributes that the merchant declared, in the order in which they were
// first imported.
func (v *View) AttributeDefinitions(ctx context.Context) ([]*AttributeDefinition, error) {
	declared, err := v.Attributes(ctx)
	definitions := make([]*AttributeDefinition, len(declared))
	for i, a := range declared {
		is := a.Attributes
		definitions[i] = &AttributeDefinition{Key: a.ID, Label: v.attributeLabel(a), Unit: unitOf(a), Type: is.AttributeType,
			Filterable: is.Filterable, Searchable: is.Searchable, Sortable: is.Sortable}
	}
	return definitions, err
}

// Canonical returns values as the release has them: 16.0 is 16. It keeps what is not of the type.
func (d *AttributeDefinition) Canonical(values []string) []string {
	canonical := make([]string, len(values))
	for i, value := range values {
		canonical[i] = value
		if text, _, ok := d.Type.Parse(value); ok {
			canonical[i] = text
		}
	}
	return canonical
}

// attributeLabel returns the label in the first of the shopper's languages that it has, else the base one.
func (v *View) attributeLabel(a *catalog.AttributeSource) string {
	for _, language := range v.Languages() {
		if label := a.Attributes.Labels[language]; label != "" {
			return label
		}
	}
	return a.Attributes.Label
}

func unitOf(a *catalog.AttributeSource) *string {
	if a.Attributes.Unit == "" {
		return nil
	}
	return &a.Attributes.Unit
}

// AttributesOf returns the attributes of products, in the order of AttributeDefinitions; nil keys are all.
func (v *View) AttributesOf(ctx context.Context, products []*Product, keys []string) ([][]*AttributeValue, error) {
	return attributesOf(ctx, v, products, func(p *Product) string { return p.attributes }, keys)
}

// NodeAttributes is AttributesOf for nodes.
func (v *View) NodeAttributes(ctx context.Context, nodes []*segment.CatalogNode, keys []string) ([][]*AttributeValue, error) {
	return attributesOf(ctx, v, nodes, func(n *segment.CatalogNode) string { return n.Attributes }, keys)
}

// attributesOf returns the values of owners in their order, by the declarations of the release. stored returns the values of
// an owner as JSON; empty for none.
func attributesOf[T any](ctx context.Context, v *View, owners []T, stored func(T) string, keys []string) ([][]*AttributeValue, error) {
	declared, err := v.Attributes(ctx)
	if err != nil {
		return nil, err
	}
	lists := make([][]*AttributeValue, len(owners))
	for i, owner := range owners {
		lists[i] = []*AttributeValue{}
		body := stored(owner)
		if body == "" {
			continue
		}
		var values map[string]json.RawMessage
		if err := json.Unmarshal([]byte(body), &values); err != nil {
			return nil, fmt.Errorf("attributes of a release: %w", err)
		}
		for _, a := range declared {
			raw, has := values[a.ID]
			if !has || keys != nil && !slices.Contains(keys, a.ID) {
				continue
			}
			if value, ok := a.Value(raw); ok {
				lists[i] = append(lists[i], &AttributeValue{a.ID, v.attributeLabel(a), a.Attributes.AttributeType, value.Texts, unitOf(a)})
			}
		}
	}
	return lists, nil
}

// AttributeCondition keeps products by an attribute of the merchant's own: those with one of some values,
// or those between two bounds, which are inclusive.
type AttributeCondition struct {
	Key    string
	In     []string // nil without values
	Ge, Le *string  // of a number or a date; nil without the bound
}

// resolveAttributes returns a filter whose conditions on attributes, also within AnyOf, are terms and key ranges. INVALID for an attribute
// that is not filterable, and for a value that is not of its type.
func (v *View) resolveAttributes(ctx context.Context, f ProductFilter) (ProductFilter, error) {
	f.AnyOf = slices.Clone(f.AnyOf) // the caller's filter does not change
	for i, a := range f.AnyOf {
		filters := make([]ProductFilter, len(a.Filters))
		for j, filter := range a.Filters {
			var err error
			if filters[j], err = v.resolveAttributes(ctx, filter); err != nil {
				return f, err
			}
		}
		f.AnyOf[i].Filters = filters
	}
	conditions := f.Attributes
	if f.Attributes = nil; len(conditions) == 0 {
		return f, nil
	}
	declared, err := v.Attributes(ctx)
	if err != nil {
		return f, err
	}
	f.Terms, f.Keys = slices.Clip(f.Terms), slices.Clip(f.Keys)
	path := []string{"filter", "attribute"}
	for _, c := range conditions {
		a := declared.Get(c.Key)
		if a == nil || !a.Attributes.Filterable {
			return f, store.Invalidf(path, "has the key %q, which is not a filterable attribute; use one of %s", store.Abbreviate(c.Key), filterableKeys(declared))
		}
		kind := a.Attributes.AttributeType
		if c.In != nil {
			term := store.Term{Attribute: segment.AttributeValues, Operator: "in"}
			for _, value := range c.In {
				text, _, ok := kind.Parse(value)
				if !ok {
					return f, store.Invalidf(path, "compares %s with %q, which is not a %s", c.Key, store.Abbreviate(value), kind)
				}
				term.Values = append(term.Values, segment.NamedValue(c.Key, text))
			}
			f.Terms = append(f.Terms, term)
			continue
		}
		if !kind.Ordered() {
			return f, store.Invalidf(path, "compares %s with ge or le, which only numbers and dates have; it is a %s, so use in", c.Key, kind)
		}
		keys := KeyRange{Sort: segment.SortOfAttribute(c.Key), Low: catalog.NoOrder + 1, High: noBound}
		for bound, into := range map[*string]*int64{c.Ge: &keys.Low, c.Le: &keys.High} {
			if bound == nil {
				continue
			}
			_, order, ok := kind.Parse(*bound)
			if !ok {
				return f, store.Invalidf(path, "compares %s with %q, which is not a %s", c.Key, store.Abbreviate(*bound), kind)
			}
			*into = order
		}
		f.Keys = append(f.Keys, keys)
	}
	return f, nil
}

// filterableKeys lists the filterable attributes for an error.
func filterableKeys(declared segment.Attributes) string {
	var keys []string
	for _, a := range declared {
		if a.Attributes.Filterable {
			keys = append(keys, a.ID)
		}
	}
	if len(keys) == 0 {
		return "those that the catalog declares: none so far"
	}
	return strings.Join(keys[:min(len(keys), 20)], ", ")
}
