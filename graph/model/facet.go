package model

import (
	"context"
	"slices"
	"strconv"
	"sync"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/release"
)

// ProductConnection is a page of products, with the facets of its list.
type ProductConnection struct {
	*Connection[*Product]
	facets *ProductFacets

	parse  sync.Once // sets filter and err, once for all aliases of fields that need them
	filter release.ProductFilter
	err    error
}

// ProductEdge is a product in a list.
type ProductEdge struct{ Edge[*Product] }

// Curated reports whether the product is curated in the node whose list this is. It
// belongs to the edge, because the product is the same in all lists.
func (e ProductEdge) Curated() bool { return e.Node.Curated }

// Edges returns the rows with their cursors.
func (c *ProductConnection) Edges() []ProductEdge {
	edges := make([]ProductEdge, len(c.Nodes))
	for i, edge := range c.Connection.Edges() {
		edges[i] = ProductEdge{edge}
	}
	return edges
}

// Facets returns the values that can narrow the list.
func (c *ProductConnection) Facets() *ProductFacets { return c.facets }

// Filter returns the filter of the list, with the facets that were chosen.
func (c *ProductConnection) Filter() (release.ProductFilter, error) {
	c.parse.Do(func() { c.filter, c.err = c.facets.conditions.Filter() })
	return c.filter, c.err
}

// ProductConditions choose the products of a list.
type ProductConditions struct {
	Given  *ProductFilter // the argument filter
	Chosen FacetState     // the argument facets
}

// Filter converts the conditions for the store.
func (c ProductConditions) Filter() (release.ProductFilter, error) {
	filter, err := c.Given.Filter()
	if err != nil {
		return filter, err
	}
	return filter, c.Chosen.addTo(&filter)
}

// without returns the conditions without those of a group.
func (c ProductConditions) without(key string) ProductConditions {
	c.Chosen = c.Chosen.with(key, nil)
	return c
}

// FacetSource counts the products of lists.
type FacetSource struct {
	View   *release.View
	Adjust func(*release.ProductQuery) // sets which lists are counted, besides their nodes; nil for nothing
}

// query returns the lists with conditions, to be counted. It reads the whole filter, so call it where a batch is loaded: once for all
// aliases that count the same.
func (s FacetSource) query(conditions ProductConditions, page store.Page) (release.ProductQuery, error) {
	converted, err := conditions.Filter()
	query := release.ProductQuery{Filter: converted, Page: page}
	if s.Adjust != nil {
		s.Adjust(&query)
	}
	return query, err
}

// NewProductConnections returns the connections of pages by node id, or "" for all products. conditions and
// page are their arguments.
func NewProductConnections(pages map[string]*Connection[*Product], conditions ProductConditions, page store.Page, count FacetSource) map[string]*ProductConnection {
	lists := make([]facetedList, 0, len(pages))
	for id := range pages {
		lists = append(lists, facetedList{id, conditions, page, count})
	}
	connections := make(map[string]*ProductConnection, len(pages))
	for _, facets := range NewBatch[ProductFacets](lists) {
		connections[facets.nodeID] = &ProductConnection{Connection: pages[facets.nodeID], facets: facets}
	}
	return connections
}

// ProductFacets counts the values of a list of products.
type ProductFacets struct {
	facetedList
	BatchRow[*ProductFacets]
}

// Init implements Row.
func (f *ProductFacets) Init(source facetedList, position BatchRow[*ProductFacets]) {
	f.facetedList, f.BatchRow = source, position
}

// facetedList is a node's list of products with its arguments.
type facetedList struct {
	nodeID     string // empty for all products
	conditions ProductConditions
	page       store.Page
	count      FacetSource
}

// FacetValue is a value with its number of products.
type FacetValue struct {
	Value, Label string
	Count        int // of products
	Selected     bool

	chosen FacetState // of the list
	key    string     // of the group
}

// Toggled returns the list's state with the value chosen too, or not any more.
func (v *FacetValue) Toggled() string { return v.chosen.Toggle(v.key, v.Value).String() }

// nodeIDsOf returns the node of each list; "" for that of all products.
func nodeIDsOf(all []*ProductFacets) []string {
	ids := make([]string, len(all))
	for i, list := range all {
		ids[i] = list.nodeID
	}
	return ids
}

// values counts an attribute for all lists of the batch, without the choices of its group.
func (f *ProductFacets) values(ctx context.Context, attribute, key string, first int) ([]*FacetValue, error) {
	selected := f.conditions.Chosen.values(key)
	counted, err := LoadBy(ctx, f.BatchRow, cachekey.New("values", attribute, strconv.Itoa(first)), f.count, func(count FacetSource, ctx context.Context, all []*ProductFacets) ([][]release.FacetValue, error) {
		list, err := count.query(f.conditions.without(key), f.page)
		if err != nil {
			return nil, err
		}
		ids := nodeIDsOf(all)
		byNode, err := count.View.FacetOfNodes(ctx, ids, release.FacetQuery{Attribute: attribute, Selected: selected, First: first, List: list})
		return ValuesByKey(ids, byNode), err
	})
	return f.valuesOf(key, "", selected, counted), err
}

// valuesOf returns counted values of a group. unit is written behind each label.
func (f *ProductFacets) valuesOf(key, unit string, selected []string, counted []release.FacetValue) []*FacetValue {
	values := make([]*FacetValue, len(counted))
	for i, c := range counted {
		values[i] = &FacetValue{Value: c.Value, Label: c.Value + unit, Count: c.Count, Selected: slices.Contains(selected, c.Value), chosen: f.conditions.Chosen, key: key}
	}
	return values
}
