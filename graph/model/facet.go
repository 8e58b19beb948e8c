package model

import (
	"context"
	"encoding/json"
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

// Facets returns the attributes that can filter the list further.
func (c *ProductConnection) Facets() *ProductFacets { return c.facets }

// Filter returns the filter of the list.
func (c *ProductConnection) Filter() (release.ProductFilter, error) {
	c.parse.Do(func() { c.filter, c.err = c.facets.filter.Filter() })
	return c.filter, c.err
}

// FacetSource counts the products of lists.
type FacetSource struct {
	View   *release.View
	Adjust func(*release.ProductQuery) // sets which lists are counted, besides their nodes; nil for nothing
}

// query returns the lists with a filter, to be counted. It reads the whole filter, so call it where a batch is loaded: once for all
// aliases that count the same.
func (s FacetSource) query(filter ProductFilter, page store.Page) (release.ProductQuery, error) {
	converted, err := filter.Filter()
	query := release.ProductQuery{Filter: converted, Page: page}
	if s.Adjust != nil {
		s.Adjust(&query)
	}
	return query, err
}

// NewProductConnections returns the connections of pages by node id, or "" for all products. filter and
// page are their arguments.
func NewProductConnections(pages map[string]*Connection[*Product], filter *ProductFilter, page store.Page, count FacetSource) map[string]*ProductConnection {
	lists := make([]facetedList, 0, len(pages))
	for id := range pages {
		lists = append(lists, facetedList{id, filter, page, count})
	}
	connections := make(map[string]*ProductConnection, len(pages))
	for _, facets := range NewBatch[ProductFacets](lists) {
		connections[facets.nodeID] = &ProductConnection{Connection: pages[facets.nodeID], facets: facets}
	}
	return connections
}

// ProductFacets counts the attributes of a list of products.
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
	nodeID string
	filter *ProductFilter
	page   store.Page
	count  FacetSource
}

// FacetValue is a value with its number of products. Filter selects only the value, Toggled adds it to the
// selected values or removes it.
type FacetValue struct {
	Value, Label    string
	Count           int
	Selected        bool
	Filter, Toggled *ProductFilterValues
}

// ProductFilterValues is a filter in a response. It has no member id, which client caches would take for
// the object's id.
type ProductFilterValues struct{ ProductFilter }

// Ids returns the ids of the filter.
func (f *ProductFilterValues) Ids() []string { return f.ids() }

// Bounds returns the bounds as JSON, or null.
func (f *ProductFilterValues) Bounds() (json.RawMessage, error) {
	if f.ProductFilter.Bounds == nil {
		return nil, nil
	}
	return json.Marshal(f.ProductFilter.Bounds)
}

// And returns the conditions as JSON, or null.
func (f *ProductFilterValues) And() (json.RawMessage, error) {
	if f.ProductFilter.And == nil {
		return nil, nil
	}
	return json.Marshal(f.ProductFilter.And)
}

// Tags counts the tags of the list's products.
func (f *ProductFacets) Tags(ctx context.Context, first int) ([]*FacetValue, error) {
	return f.values(ctx, "tags", first)
}

// ProductTypes counts the types of the list's products.
func (f *ProductFacets) ProductTypes(ctx context.Context, first int) ([]*FacetValue, error) {
	return f.values(ctx, "product_types", first)
}

// copyFilter returns the list's filter, to be changed.
func (f *ProductFacets) copyFilter() ProductFilter {
	if f.filter == nil {
		return ProductFilter{}
	}
	return *f.filter
}

func nodeIDsOf(all []*ProductFacets) []string {
	ids := make([]string, len(all))
	for i, list := range all {
		ids[i] = list.nodeID
	}
	return ids
}

// values counts an attribute for all lists of the batch, without the filter's condition on it.
func (f *ProductFacets) values(ctx context.Context, attribute string, first int) ([]*FacetValue, error) {
	filter := f.copyFilter()
	own := filter.text(attribute)
	selected := (*own).Values()
	*own = nil
	counted, err := LoadBy(ctx, f.BatchRow, cachekey.New("values", attribute, strconv.Itoa(first)), f.count, func(count FacetSource, ctx context.Context, all []*ProductFacets) ([][]release.FacetValue, error) {
		list, err := count.query(filter, f.page)
		if err != nil {
			return nil, err
		}
		ids := nodeIDsOf(all)
		byNode, err := count.View.FacetOfNodes(ctx, ids, release.FacetQuery{Attribute: attribute, Selected: selected, First: first, List: list})
		return ValuesByKey(ids, byNode), err
	})
	if err != nil {
		return nil, err
	}
	values := make([]*FacetValue, len(counted))
	for i, c := range counted {
		values[i] = &FacetValue{Value: c.Value, Label: c.Value, Count: c.Count, Selected: slices.Contains(selected, c.Value)}
		*own = &TextFilter{Eq: &c.Value}
		values[i].Filter = &ProductFilterValues{filter}
		*own = toggled(selected, c.Value)
		values[i].Toggled = &ProductFilterValues{filter}
	}
	return values, nil
}

// Values returns the values that a condition allows; nil without a condition.
func (f *TextFilter) Values() []string {
	switch {
	case f == nil:
		return nil
	case f.Eq != nil:
		return []string{*f.Eq}
	}
	return f.In
}

// toggled returns a condition with a value added to the selected ones, or removed; nil if none is left.
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
