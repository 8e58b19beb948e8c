package store

import (
	"cmp"
	"context"
	"slices"
	"sort"
)

// ProductQuery asks for products: those that the filter keeps, sorted, a page
// of them.
type ProductQuery struct {
	NodeID string // of one node or hierarchy; empty is every listed product
	Filter ProductFilter
	Sort   Sort // the default: curated first, then by last update, newest first, then id
	Page   Page
}

// Products lists live products. NOT_FOUND for an unknown node.
func (v *View) Products(ctx context.Context, query ProductQuery) (*Slice[*Product], error) {
	if err := query.Filter.check(); err != nil {
		return nil, err
	}
	v, err := v.follow(ctx, query.Page)
	if err != nil {
		return nil, err
	}
	list := listAll
	if query.NodeID != "" {
		if _, err := v.Node(ctx, query.NodeID); err != nil {
			return nil, err
		}
		list = listOfNode(query.NodeID)
	}
	head, err := v.listHead(ctx, list)
	if err != nil {
		return nil, err
	}
	a := &arrangement{View: v, list: list, head: head, filter: query.Filter, sort: query.Sort}
	total, places, err := a.arrange(ctx)
	if err != nil {
		return nil, err
	}
	name := listName("products", list, query.Filter.String(), query.Sort.String())
	return positioned(v, name, query.Page, total, func(start, end int) ([]*Product, error) {
		at, err := places(ctx, start, end)
		if err != nil {
			return nil, err
		}
		return v.show(ctx, at, head.curated)
	})
}

// ProductsOfNodes lists the products of several nodes by one query, whose own
// NodeID counts for nothing. As long as it neither filters, sorts nor follows
// a cursor, it costs as many statements as one node does.
func (v *View) ProductsOfNodes(ctx context.Context, nodeIDs []string, query ProductQuery) (map[string]*Slice[*Product], error) {
	plain := len(query.Filter.Terms)+len(query.Filter.Ranges) == 0 && query.Sort == (Sort{}) && query.Page.After == nil && query.Page.Before == nil
	if plain && len(nodeIDs) > 1 {
		ahead := *v
		ahead.cache = v.cache.orOwn()
		v = &ahead
		if err := v.fetchAhead(ctx, nodeIDs, query.Page); err != nil {
			return nil, err
		}
	}
	slices := make(map[string]*Slice[*Product], len(nodeIDs))
	for _, id := range nodeIDs {
		query.NodeID = id
		slice, err := v.Products(ctx, query)
		if err != nil {
			return nil, err
		}
		slices[id] = slice
	}
	return slices, nil
}

// fetchAhead brings what a page of each node needs into the cache, kind by
// kind.
func (v *View) fetchAhead(ctx context.Context, nodeIDs []string, page Page) error {
	b, err := page.check(v.pageLength)
	if err != nil {
		return err
	}
	lists := make([]string, len(nodeIDs))
	for i, id := range nodeIDs {
		lists[i] = listOfNode(id)
	}
	heads, err := v.listHeads(ctx, lists)
	if err != nil {
		return err
	}
	first, last := 0, 0
	for _, head := range heads {
		w := b.window(head.total, -1, -1)
		first, last = min(first, w.start/chunkSize), max(last, w.end/chunkSize)
	}
	if _, err := chunksOf(ctx, v, lists, SortDefault, first, last, unpackOrdinals); err != nil {
		return err
	}
	var places []uint32
	for list, head := range heads {
		w := b.window(head.total, -1, -1)
		at, err := (&arrangement{View: v, list: list, head: head}).inOrder(ctx, w.start, w.end)
		if err != nil {
			return err
		}
		places = append(places, at...)
	}
	_, err = v.products(ctx, places)
	return err
}

// show reads products and marks the curated ones.
func (v *View) show(ctx context.Context, places []uint32, curated []uint32) ([]*Product, error) {
	found, err := v.products(ctx, places)
	if err != nil {
		return nil, err
	}
	shown, list := make([]Product, len(found)), make([]*Product, len(found))
	for i, product := range found {
		shown[i] = Product{product, slices.Contains(curated, places[i])}
		list[i] = &shown[i]
	}
	return list, nil
}

// arrangement is a list as a query wants it: filtered and sorted.
type arrangement struct {
	*View
	list   string
	head   *listHead
	filter ProductFilter
	sort   Sort
}

// reads returns the products from position start until just before end.
type reads func(ctx context.Context, start, end int) ([]uint32, error)

// arrange works out the length and how to read a part. A list without terms
// is read where it lies, at the same cost at any offset; another is worked
// out once and kept.
func (a *arrangement) arrange(ctx context.Context) (total int, places reads, err error) {
	if len(a.filter.Terms) == 0 && a.sorted() {
		return a.bounded(ctx)
	}
	if len(a.filter.Terms)+len(a.filter.Ranges) == 0 {
		return a.head.total, a.inOrder, nil
	}
	found, err := a.filtered(ctx)
	if err != nil {
		return 0, nil, err
	}
	return len(found), func(_ context.Context, start, end int) ([]uint32, error) { return found[start:end], nil }, nil
}

// sorted tells whether the list is sorted, and only bounded by its sort key.
func (a *arrangement) sorted() bool {
	return a.sort.By != SortDefault && !slices.ContainsFunc(a.filter.Ranges, func(r Range) bool { return r.Attribute != a.sort.By })
}

// inOrder reads the list's own order: curated products, then the others.
func (a *arrangement) inOrder(ctx context.Context, start, end int) ([]uint32, error) {
	curated := len(a.head.curated)
	places := slices.Clone(a.head.curated[min(start, curated):min(end, curated)])
	rest, err := a.stored(ctx, SortDefault, max(0, start-curated), max(0, end-curated))
	return append(places, rest...), err
}

// stored reads a part of the list as it is kept in one of its orders.
func (a *arrangement) stored(ctx context.Context, by SortBy, start, end int) ([]uint32, error) {
	if start >= end {
		return nil, nil
	}
	first := start / chunkSize
	parts, err := chunks(ctx, a.View, a.list, by, first, (end-1)/chunkSize, unpackOrdinals)
	if err != nil {
		return nil, err
	}
	places := make([]uint32, 0, end-start)
	for at := start; at < end; {
		part := parts[at/chunkSize-first]
		from := at % chunkSize
		if from >= len(part) {
			return nil, errReleaseGone
		}
		n := min(end-at, len(part)-from)
		places = append(places, part[from:from+n]...)
		at += n
	}
	return places, nil
}

// bounded reads a sorted list between the bounds of its sort key, which a
// binary search finds.
func (a *arrangement) bounded(ctx context.Context) (total int, places reads, err error) {
	low, high := 0, a.head.total
	for _, r := range a.filter.Ranges {
		i, err := a.interval(ctx, r)
		if err != nil {
			return 0, nil, err
		}
		from, err := a.search(ctx, i.low)
		if err != nil {
			return 0, nil, err
		}
		until, err := a.search(ctx, i.high)
		if err != nil {
			return 0, nil, err
		}
		low, high = max(low, from), min(high, until)
	}
	total = max(0, high-low)
	return total, func(ctx context.Context, start, end int) ([]uint32, error) {
		if !a.sort.Descending {
			return a.stored(ctx, a.sort.By, low+start, low+end)
		}
		places, err := a.stored(ctx, a.sort.By, high-end, high-start)
		slices.Reverse(places)
		return places, err
	}, nil
}

// search is the first position whose sort key is not below one.
func (a *arrangement) search(ctx context.Context, key int64) (int, error) {
	var failed error
	position := sort.Search(a.head.total, func(i int) bool {
		at, err := a.stored(ctx, a.sort.By, i, i+1)
		if err != nil {
			failed = err
			return true
		}
		part, err := chunks(ctx, a.View, listKeys, a.sort.By, int(at[0])/chunkSize, int(at[0])/chunkSize, unpackKeys)
		if err != nil {
			failed = err
			return true
		}
		return part[0][at[0]%chunkSize] >= key
	})
	return position, failed
}

// filtered works out a filtered list and keeps it.
func (a *arrangement) filtered(ctx context.Context) (ordinals, error) {
	key := cacheKey{release: a.Release.ID, kind: cachedFilter, name: a.list + "?" + a.filter.String(), sort: SortBy(a.sort.String())}
	if kept, ok := cached[ordinals](a.cache, key); ok {
		return kept, nil
	}
	found, err := a.members(ctx)
	if err != nil {
		return nil, err
	}
	for _, term := range a.filter.Terms {
		matching, err := a.matching(ctx, term)
		if err != nil {
			return nil, err
		}
		found = intersect(found, matching)
	}
	if found, err = a.within(ctx, found); err != nil {
		return nil, err
	}
	if found, err = a.order(ctx, found); err != nil {
		return nil, err
	}
	a.cache.keep(key, found)
	return found, nil
}

// members are all products of the list, by ordinal.
func (a *arrangement) members(ctx context.Context) (ordinals, error) {
	rest, err := a.stored(ctx, SortDefault, 0, a.head.total-len(a.head.curated))
	if err != nil {
		return nil, err
	}
	if len(a.head.curated) > 0 {
		rest = append(rest, a.head.curated...)
		slices.Sort(rest)
	}
	return rest, nil
}

// within keeps what is in every range.
func (a *arrangement) within(ctx context.Context, found ordinals) (ordinals, error) {
	for _, r := range a.filter.Ranges {
		i, err := a.interval(ctx, r)
		if err != nil {
			return nil, err
		}
		keys, err := a.allKeys(ctx, r.Attribute)
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(place uint32) bool { return !i.holds(keys.at(place)) })
	}
	return found, nil
}

// order sorts what was found. By default the curated come first, unless the
// filter names ids.
func (a *arrangement) order(ctx context.Context, found ordinals) (ordinals, error) {
	if a.sort.By == SortDefault {
		if a.filter.byID() {
			return found, nil
		}
		curated := intersectOrdered(a.head.curated, found)
		rest := slices.DeleteFunc(found, func(place uint32) bool { return slices.Contains(curated, place) })
		return append(curated, rest...), nil
	}
	keys, err := a.allKeys(ctx, a.sort.By)
	if err != nil {
		return nil, err
	}
	ranks, err := a.allKeys(ctx, SortID)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(keys.at(x), keys.at(y)), cmp.Compare(ranks.at(x), ranks.at(y)))
	})
	if a.sort.Descending {
		slices.Reverse(found)
	}
	return found, nil
}

// intersectOrdered keeps those of a short list that a sorted one has.
func intersectOrdered(list []uint32, sorted ordinals) ordinals {
	both := ordinals{}
	for _, place := range list {
		if _, found := slices.BinarySearch(sorted, place); found {
			both = append(both, place)
		}
	}
	return both
}

// keyChunks are the sort keys of all products, by ordinal.
type keyChunks []keys

func (k keyChunks) at(place uint32) int64 { return k[place/chunkSize][place%chunkSize] }

func (v *View) allKeys(ctx context.Context, by SortBy) (keyChunks, error) {
	if v.Release.Products == 0 {
		return nil, nil
	}
	return chunks(ctx, v, listKeys, by, 0, (v.Release.Products-1)/chunkSize, unpackKeys)
}
