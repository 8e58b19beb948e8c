package model

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"

	"portico/store"
	"portico/store/release"
)

// ProductConnection is a page of products, with the facets of its list.
type ProductConnection struct {
	*Connection[*Product]
	facets *ProductFacets
}

// ProductEdge is a product in a list.
type ProductEdge struct{ Edge[*Product] }

// Curated reports whether the product is curated in the node whose list this is. It
// belongs to the edge, because the product is the same in all lists.
func (e ProductEdge) Curated() bool { return e.Node.Curated }

// Edges are the rows with their cursors.
func (c *ProductConnection) Edges() []ProductEdge {
	edges := make([]ProductEdge, len(c.Nodes))
	for i, edge := range c.Connection.Edges() {
		edges[i] = ProductEdge{edge}
	}
	return edges
}

// Facets is what the list can be narrowed by.
func (c *ProductConnection) Facets() *ProductFacets { return c.facets }

// CountFacets counts the values of an attribute for the lists of several
// nodes, which differ in nothing else.
type CountFacets func(ctx context.Context, nodeIDs []string, query release.FacetQuery) (map[string][]release.FacetValue, error)

// NewProductConnections puts pages of products side by side, by the node they
// are of, or "" for all products. filter and page are what all were asked by.
func NewProductConnections(pages map[string]*Connection[*Product], filter *ProductFilter, page store.Page, count CountFacets) map[string]*ProductConnection {
	lists := make([]facetedList, 0, len(pages))
	for id := range pages {
		lists = append(lists, facetedList{id, filter, page, count})
	}
	connections := make(map[string]*ProductConnection, len(pages))
	for _, facets := range Siblings[ProductFacets](lists) {
		connections[facets.nodeID] = &ProductConnection{pages[facets.nodeID], facets}
	}
	return connections
}

// ProductFacets are the attributes of a list of products, counted when asked.
type ProductFacets struct {
	facetedList
	Sibling[*ProductFacets]
}

// Seat implements Row.
func (f *ProductFacets) Place(of facetedList, place Sibling[*ProductFacets]) {
	f.facetedList, f.Sibling = of, place
}

// facetedList is a node's list of products, as it was asked for.
type facetedList struct {
	nodeID string
	filter *ProductFilter
	page   store.Page
	count  CountFacets
}

// FacetValue is a value with its number of products and the filters that
// choose it.
type FacetValue struct {
	Value           string
	Count           int
	Selected        bool
	Filter, Toggled *ProductFilterValues
}

// ProductFilterValues is a filter as it is answered. It has no member called
// id, which caches would take for its own.
type ProductFilterValues struct{ ProductFilter }

// Ids are those that were asked for.
func (f *ProductFilterValues) Ids() []string { return f.ids() }

// Bounds and And are as they were asked, or null.
func (f *ProductFilterValues) Bounds() (json.RawMessage, error) {
	if f.ProductFilter.Bounds == nil {
		return nil, nil
	}
	return json.Marshal(f.ProductFilter.Bounds)
}

// And is described with Bounds.
func (f *ProductFilterValues) And() (json.RawMessage, error) {
	if f.ProductFilter.And == nil {
		return nil, nil
	}
	return json.Marshal(f.ProductFilter.And)
}

// Tags are the tags of the list's products.
func (f *ProductFacets) Tags(ctx context.Context, first int) ([]*FacetValue, error) {
	return f.values(ctx, "tags", first)
}

// ProductTypes are their types.
func (f *ProductFacets) ProductTypes(ctx context.Context, first int) ([]*FacetValue, error) {
	return f.values(ctx, "product_types", first)
}

// values counts an attribute for all siblings, leaving out the filter's own
// condition on it.
func (f *ProductFacets) values(ctx context.Context, attribute string, first int) ([]*FacetValue, error) {
	var asked ProductFilter
	if f.filter != nil {
		asked = *f.filter
	}
	own := asked.text(attribute)
	selected := (*own).values()
	*own = nil
	without, err := asked.Filter()
	if err != nil {
		return nil, err
	}
	query := release.FacetQuery{Attribute: attribute, Selected: selected, First: first, List: release.ProductQuery{Filter: without, Page: f.page}}
	counted, err := Load(ctx, f.Sibling, attribute+strconv.Itoa(first), f.count, func(count CountFacets, ctx context.Context, all []*ProductFacets) ([][]release.FacetValue, error) {
		ids := make([]string, len(all))
		for i, sibling := range all {
			ids[i] = sibling.nodeID
		}
		byNode, err := count(ctx, ids, query)
		return ValuesByKey(ids, byNode), err
	})
	if err != nil {
		return nil, err
	}
	values := make([]*FacetValue, len(counted))
	for i, c := range counted {
		values[i] = &FacetValue{Value: c.Value, Count: c.Count, Selected: slices.Contains(selected, c.Value)}
		*own = &TextFilter{Eq: &c.Value}
		values[i].Filter = &ProductFilterValues{asked}
		*own = toggled(selected, c.Value)
		values[i].Toggled = &ProductFilterValues{asked}
	}
	return values, nil
}

// values are those that a condition lets through; none for no condition.
func (f *TextFilter) values() []string {
	switch {
	case f == nil:
		return nil
	case f.Eq != nil:
		return []string{*f.Eq}
	}
	return f.In
}

// toggled is the condition with a value added to the selected ones, or taken
// away; nil when none is left.
func toggled(selected []string, value string) *TextFilter {
	left := slices.DeleteFunc(slices.Clone(selected), func(other string) bool { return other == value })
	if len(left) == len(selected) {
		left = append(left, value)
	}
	if len(left) == 0 {
		return nil
	}
	return &TextFilter{In: left}
}
