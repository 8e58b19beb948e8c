package release

import (
	"cmp"
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/release/segment"
)

// FacetQuery requests the number of products of a list for each value of an
// attribute.
type FacetQuery struct {
	Attribute string // one of FacetAttributes
	List      ProductQuery
	Selected  []string // values to return in any case
	First     int      // values to return, 1 to MaxPageLength
}

// FacetValue is a value of an attribute.
type FacetValue struct {
	Value string
	Count int // products of the list
}

// Facet returns the values with the most products first, those with the same
// number by value, byte by byte. It leaves out values that no product of the
// list has, unless they are selected.
func (v *View) Facet(ctx context.Context, query FacetQuery) ([]FacetValue, error) {
	id := query.List.NodeID
	if query.List.Edge != "" {
		id = query.List.Of
	}
	lists, err := v.FacetOfNodes(ctx, []string{id}, query)
	return lists[id], err
}

// FacetOfNodes is Facet for several nodes, in as many statements as for one. The
// id "" is all products. If the query has an edge, the ids are of the products
// that it leads from. NOT_FOUND for an unknown node.
func (v *View) FacetOfNodes(ctx context.Context, nodeIDs []string, query FacetQuery) (map[string][]FacetValue, error) {
	if err := store.CheckLimit("first", query.First); err != nil {
		return nil, err
	}
	counts, err := v.countedOfNodes(ctx, nodeIDs, query.Attribute, query.List)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]FacetValue, len(nodeIDs))
	for id, counted := range counts {
		found[id] = counted.pick(query.Selected, query.First)
	}
	return found, nil
}

// listsToCount returns the lists of nodes, unsorted, and the view that reads them: that of the release to which a cursor of the
// query leads. NOT_FOUND for an unknown node.
func (v *View) listsToCount(ctx context.Context, nodeIDs []string, query ProductQuery) (*View, map[string]*resultOrder, error) {
	var err error
	if query.Filter, err = v.resolve(ctx, query.Filter); err != nil {
		return nil, nil, err
	}
	stored, err := v.storedList(ctx, query, query.NodeID)
	if err != nil {
		return nil, nil, err
	}
	if v, err = v.follow(ctx, query.Page, stored); err != nil {
		return nil, nil, err
	}
	lists, err := v.unsortedLists(ctx, nodeIDs, query)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range nodeIDs {
		if lists[id] == nil {
			return nil, nil, v.noList(ctx, id)
		}
	}
	return v, lists, nil
}

// countedOfNodes counts the values of an attribute in the lists of several nodes.
func (v *View) countedOfNodes(ctx context.Context, nodeIDs []string, attribute string, query ProductQuery) (map[string]facetCounts, error) {
	v, lists, err := v.listsToCount(ctx, nodeIDs, query)
	if err != nil {
		return nil, err
	}
	layers, err := v.Facets(ctx, attribute)
	if err != nil {
		return nil, err
	}
	found := make(map[string]facetCounts, len(nodeIDs))
	for id, list := range lists {
		if found[id], err = list.facet(ctx, attribute, layers); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// facetCounts are the values of a list's products, in the order of Facet.
type facetCounts []FacetValue

func (c facetCounts) Size() int {
	n := 24
	for _, value := range c {
		n += 24 + len(value.Value)
	}
	return n
}

// countFacet counts the values of found products.
func countFacet(layers []*segment.Facet, found *foundSet) facetCounts {
	counts := map[string]int{}
	for _, layer := range layers {
		layer.Count(found.set, found.total, counts)
	}
	list := make(facetCounts, 0, len(counts))
	for value, n := range counts {
		list = append(list, FacetValue{value, n})
	}
	slices.SortFunc(list, func(a, b FacetValue) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return list
}

// pick returns the first values and the selected ones, some of which no product
// may have.
func (c facetCounts) pick(selected []string, first int) []FacetValue {
	shown := slices.Clone(c[:min(first, len(c))])
	if len(selected) == 0 {
		return shown
	}
	for _, further := range c[len(shown):] {
		if slices.Contains(selected, further.Value) {
			shown = append(shown, further)
		}
	}
	for _, value := range slices.Sorted(slices.Values(store.Unique(selected))) {
		if !slices.ContainsFunc(c, func(known FacetValue) bool { return known.Value == value }) {
			shown = append(shown, FacetValue{value, 0})
		}
	}
	return shown
}

// facet counts an attribute and caches the result, which is the same for all
// shoppers who see the list.
func (o *resultOrder) facet(ctx context.Context, attribute string, layers []*segment.Facet) (facetCounts, error) {
	key := db.CacheKey{Release: o.Release.CacheIdentity(), Kind: cachedCounts, Name: cachekey.Join(cachekey.New(attribute), o.key()), Number: o.epoch}
	if kept, ok := db.Cached[facetCounts](o.Cache, key); ok {
		return kept, nil
	}
	found, err := o.foundSet(ctx) // of live stock it is not cached
	if err != nil {
		return nil, err
	}
	work := countedWork * found.total
	for _, layer := range layers {
		work += 8 * layer.Values()
	}
	if err := store.Charge(ctx, work); err != nil {
		return nil, err
	}
	counts := countFacet(layers, found)
	if !o.filter.Live() {
		o.Cache.Set(key, counts)
	}
	return counts, nil
}

// countedWork is the cost of counting one product, in bytes of an Allowance.
const countedWork = 8

// unsortedLists returns the lists of nodes, or of a query's edge, by id.
func (v *View) unsortedLists(ctx context.Context, ids []string, query ProductQuery) (map[string]*resultOrder, error) {
	query.Sort = store.Sort{}
	if query.Edge != "" {
		return v.ordersOfEdge(ctx, ids, query)
	}
	return v.ordersOfNodes(ctx, ids, query)
}
