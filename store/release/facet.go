package release

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// FacetQuery asks how many products of a list have each value of an
// attribute. The list is a node's or, without one, all; the filter is what
// the caller makes of it, mostly what was asked without the condition on the
// attribute itself.
type FacetQuery struct {
	Attribute string // one of FacetAttributes
	List      ProductQuery
	Selected  []string // values that are answered in any case
	First     int      // how many values, 1 to MaxPageLength
}

// FacetValue is a value of an attribute.
type FacetValue struct {
	Value string
	Count int // products of the list that have it
}

// facet is an attribute of all products of a layer: its values, and the
// numbers of those that each product has, from its first ordinal on.
type facet struct {
	first  uint32
	values []string
	of     index.AdjacencyList
}

func (f *facet) Size() int {
	n := 64 + 4*len(f.of.Items) + 4*len(f.of.Ends)
	for _, value := range f.values {
		n += 16 + len(value)
	}
	return n
}

// Facet counts; the values with the most products come first, those with the
// same number by value, byte by byte. Values that no product of the list has
// are left out, unless they are selected.
func (v *View) Facet(ctx context.Context, query FacetQuery) ([]FacetValue, error) {
	id := query.List.NodeID
	if query.List.Edge != "" {
		id = query.List.Of
	}
	lists, err := v.FacetOfNodes(ctx, []string{id}, query)
	return lists[id], err
}

// FacetOfNodes counts for each of several nodes, whose queries differ in
// nothing else, in as many statements as for one. The id "" is all products.
// NOT_FOUND for an unknown node. Where the query names an edge, the ids are of
// the products that it leads from.
func (v *View) FacetOfNodes(ctx context.Context, nodeIDs []string, query FacetQuery) (map[string][]FacetValue, error) {
	if err := store.CheckLimit("first", query.First); err != nil {
		return nil, err
	}
	if err := query.List.Filter.check(); err != nil {
		return nil, err
	}
	v, err := v.follow(ctx, query.List.Page)
	if err != nil {
		return nil, err
	}
	v = v.Ahead()
	layers, err := v.facet(ctx, query.Attribute)
	if err != nil {
		return nil, err
	}
	lists, err := v.arrangementsOf(ctx, nodeIDs, query.List)
	if err != nil {
		return nil, err
	}
	found := make(map[string][]FacetValue, len(nodeIDs))
	for _, id := range nodeIDs {
		if lists[id] == nil {
			return nil, v.noList(ctx, id)
		}
		counts, err := lists[id].count(ctx, query.Attribute, layers)
		if err != nil {
			return nil, err
		}
		found[id] = counts.pick(query.Selected, query.First)
	}
	return found, nil
}

// facetCounts are the values that a list's products have, those with the most
// first, then by value.
type facetCounts []FacetValue

func (c facetCounts) Size() int {
	n := 24
	for _, value := range c {
		n += 24 + len(value.Value)
	}
	return n
}

// countedWork is what counting costs for each product of a list, in bytes of
// an Allowance.
const countedWork = 8

// count counts an attribute, and keeps the result: it is the same for all who
// ask for the list.
func (a *ResultOrder) count(ctx context.Context, attribute string, layers []*facet) (facetCounts, error) {
	key := db.CacheKey{Release: a.Release.identity(), Kind: cachedCounts, Name: attribute + " " + a.List + "?" + a.name()}
	if kept, ok := db.Cached[facetCounts](a.Cache, key); ok {
		return kept, nil
	}
	places, err := a.whole(ctx)
	if err != nil {
		return nil, err
	}
	work := countedWork * len(places)
	for _, layer := range layers {
		work += 8 * len(layer.values)
	}
	if err := store.Charge(ctx, work); err != nil {
		return nil, err
	}
	counts := countFacet(layers, places)
	a.Cache.Set(key, counts)
	return counts, nil
}

// pick is the first values and the selected ones, of which some may be had by
// no product.
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

// arrangementsOf are the lists of nodes, or of what products refer to.
func (v *View) arrangementsOf(ctx context.Context, ids []string, query ProductQuery) (map[string]*ResultOrder, error) {
	query.Sort = store.Sort{}
	if query.Edge != "" {
		return v.arrangementsOfEdge(ctx, ids, query)
	}
	return v.arrangements(ctx, ids, query)
}

// count adds, by value, the products of the layer among those at some places.
func (f *facet) count(places index.Ordinals, counts map[string]int) {
	own := make([]int, len(f.values))
	for _, place := range places {
		if place >= f.first {
			for _, number := range f.of.Of(place - f.first) {
				own[number]++
			}
		}
	}
	for number, n := range own {
		if n > 0 {
			counts[f.values[number]] += n
		}
	}
}

func countFacet(layers []*facet, places index.Ordinals) facetCounts {
	counts := map[string]int{}
	for _, layer := range layers {
		layer.count(places, counts)
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

// facet reads an attribute of all products, layer by layer.
func (v *View) facet(ctx context.Context, attribute string) ([]*facet, error) {
	own, err := v.facetHere(ctx, attribute)
	if err != nil || v.Release.BaseID == 0 {
		return []*facet{own}, err
	}
	below, err := v.base().facetHere(ctx, attribute)
	return []*facet{below, own}, err
}

// facetHere is facet in the view's own layer.
func (v *View) facetHere(ctx context.Context, attribute string) (*facet, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedFacet, Name: attribute}
	if kept, ok := db.Cached[*facet](v.Cache, key); ok {
		return kept, nil
	}
	f := &facet{first: uint32(v.Release.FirstOrdinal)}
	chunks, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (number int, err error) {
		var body []byte
		if err := rows.Scan(&number, &body); err != nil {
			return 0, err
		}
		if number == DirectoryChunk {
			f.values = unpackTexts(body)
		} else {
			f.unpack(body)
		}
		return number, nil
	}, `SELECT chunk, body FROM release_facet WHERE release_id = $1 AND attribute = $2 ORDER BY chunk`, v.Release.ID, attribute)
	if err != nil {
		return nil, err
	}
	if len(chunks) < 1+(v.Release.Ordinals-v.Release.FirstOrdinal+ChunkSize-1)/ChunkSize {
		return nil, v.notKept(ctx, "facets")
	}
	v.Cache.Set(key, f)
	return f, nil
}

// unpack appends what a chunk says of its products.
func (f *facet) unpack(body []byte) {
	for len(body) > 0 {
		n, at := binary.Uvarint(body)
		for body = body[at:]; n > 0; n-- {
			number, at := binary.Uvarint(body)
			body = body[at:]
			f.of.Add(uint32(number))
		}
		f.of.End()
	}
}

func unpackTexts(body []byte) (texts []string) {
	for len(body) > 0 {
		var text []byte
		text, body = cutText(body)
		texts = append(texts, string(text))
	}
	return texts
}
