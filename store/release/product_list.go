package release

import (
	"context"
	"math"
	"slices"
	"strings"

	"portico/store"
	"portico/store/index"
)

// ProductQuery asks for products: those that the filter keeps, sorted, a page
// of them.
type ProductQuery struct {
	NodeID   string // of one node or hierarchy; empty is every listed product
	Unlisted bool   // without a node: every product of the release, those that no node lists too
	Edge     Edge   // in place of a node: the products that one product refers to
	Of       string // that product's id
	Filter   ProductFilter
	Sort     store.Sort // the default: curated first, then by last update, newest first, then id
	Page     store.Page
}

// Products lists live products. NOT_FOUND for an unknown node.
func (v *View) Products(ctx context.Context, query ProductQuery) (*store.Slice[*Product], error) {
	if err := query.Filter.check(); err != nil {
		return nil, err
	}
	v, err := v.follow(ctx, query.Page)
	if err != nil {
		return nil, err
	}
	a, err := v.arrangement(ctx, query)
	if err != nil {
		return nil, err
	}
	if a.sort, a.epoch, err = v.sorting(ctx, query.Sort, query.Page); err != nil {
		return nil, err
	}
	total, places, err := a.arrange(ctx)
	if err != nil {
		return nil, err
	}
	row := store.Cursor{List: store.ListName("products", a.List, a.name(), query.Sort.String()), Epoch: a.epoch}
	return positioned(v, row, query.Page, total, func(start, end int) ([]*Product, error) {
		at, err := places(ctx, start, end)
		if err != nil {
			return nil, err
		}
		return v.show(ctx, at, a.Head.Curated)
	})
}

// arrangement is the list that a query is about, not sorted yet.
func (v *View) arrangement(ctx context.Context, query ProductQuery) (*ResultOrder, error) {
	if query.Edge != "" {
		return v.arrangementOfEdge(ctx, query)
	}
	if query.NodeID != "" {
		if _, err := v.Node(ctx, query.NodeID); err != nil {
			return nil, err
		}
	}
	list := v.listOfProducts(query, query.NodeID)
	head, err := v.ListHead(ctx, list)
	return &ResultOrder{View: v, List: list, Head: head, filter: query.Filter}, err
}

// listOfProducts is the list of a node or, without one, of all products. A
// release of an early format has but those that nodes list.
func (v *View) listOfProducts(query ProductQuery, nodeID string) string {
	switch {
	case nodeID != "":
		return ListOfNode(nodeID)
	case query.Unlisted && v.Release.Format >= formatOfPresence:
		return ListEvery
	}
	return ListAll
}

// NamesSKU tells whether a filter asks for products by their SKU: by a
// condition on it, or by a search for a text that is one, as written or in
// capitals. Who does so means that product, whether a node lists it or not.
func (v *View) NamesSKU(ctx context.Context, f ProductFilter) (bool, error) {
	if slices.ContainsFunc(f.Terms, func(t store.Term) bool { return t.Attribute == "sku" }) {
		return true, nil
	}
	for _, search := range f.Searches {
		for _, sku := range store.Unique([]string{search.Typed, strings.ToUpper(search.Typed)}) {
			if sku == "" {
				continue
			}
			if found, err := v.Indexed(ctx, "sku", sku); err != nil || len(found) > 0 {
				return err == nil, err
			}
		}
	}
	return false, nil
}

// ProductsOfNodes lists the products of several nodes by one query, whose own
// NodeID counts for nothing. As long as it does not follow a cursor, it costs
// as many statements as one node does.
func (v *View) ProductsOfNodes(ctx context.Context, nodeIDs []string, query ProductQuery) (map[string]*store.Slice[*Product], error) {
	if err := query.Filter.check(); err != nil {
		return nil, err
	}
	if len(nodeIDs) > 1 && query.Page.After == nil && query.Page.Before == nil {
		v = v.Ahead()
		if err := v.fetchAhead(ctx, nodeIDs, query); err != nil {
			return nil, err
		}
	}
	slices := make(map[string]*store.Slice[*Product], len(nodeIDs))
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

// Ahead is the view with a cache, at least for as long as it is used.
func (v *View) Ahead() *View {
	ahead := *v
	ahead.Cache = v.Cache.OrPerOperation()
	return &ahead
}

// noList says why a list is missing: there is no such node, or the release was
// swept meanwhile.
func (v *View) noList(ctx context.Context, nodeID string) error {
	if nodeID != "" {
		if _, err := v.Node(ctx, nodeID); err != nil {
			return err
		}
	}
	return errReleaseGone
}

// fetchAhead brings what a page of each node needs into the cache, kind by
// kind.
func (v *View) fetchAhead(ctx context.Context, nodeIDs []string, query ProductQuery) error {
	b, err := query.Page.Check(v.pageLength)
	if err != nil {
		return err
	}
	lists, err := v.arrangements(ctx, nodeIDs, query)
	if err != nil {
		return err
	}
	if err := v.chunksAhead(ctx, lists, b); err != nil {
		return err
	}
	return v.pagesAhead(ctx, lists, b)
}

// pagesAhead reads the products of a page of each list.
func (v *View) pagesAhead(ctx context.Context, lists map[string]*ResultOrder, b store.CheckedPage) error {
	var all []uint32
	for _, a := range lists {
		total, places, err := a.arrange(ctx)
		if err != nil {
			return err
		}
		w := b.Window(total, -1, -1)
		at, err := places(ctx, w.Start, w.End)
		if err != nil {
			return err
		}
		all = append(all, at...)
	}
	_, err := v.ProductsAt(ctx, all)
	return err
}

// chunksAhead reads the parts of the lists' stored order that hold a page;
// lists that are filtered are read whole by now.
func (v *View) chunksAhead(ctx context.Context, lists map[string]*ResultOrder, b store.CheckedPage) error {
	var kept []KeptList
	by, first, last := store.SortDefault, math.MaxInt, 0
	for _, a := range lists {
		if a.picked() || len(a.filter.Ranges) > 0 {
			return nil
		}
		w := b.Window(a.Head.Total, -1, -1)
		switch {
		case a.sort.By == store.SortDefault:
			w.Start, w.End = max(0, w.Start-len(a.Head.Curated)), max(0, w.End-len(a.Head.Curated))
		case a.sort.Descending:
			w.Start, w.End = a.Head.Total-w.End, a.Head.Total-w.Start
		}
		if by = a.sort.By; w.Start < w.End {
			names, from, until := a.parts(by, w.Start, w.End)
			kept, first, last = append(kept, names...), min(first, from), max(last, until)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	_, err := ChunksOf(ctx, v, kept, by, first, last, index.UnpackOrdinals)
	return err
}

// arrangements are the lists of several nodes as a query wants them. Those
// that must be gone through from end to end, to filter them or to find where
// bounds fall, are read at once.
func (v *View) arrangements(ctx context.Context, nodeIDs []string, query ProductQuery) (map[string]*ResultOrder, error) {
	names := make([]string, len(nodeIDs))
	for i, id := range nodeIDs {
		names[i] = v.listOfProducts(query, id)
	}
	heads, err := v.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	filter := query.Filter
	sort, epoch, err := v.sorting(ctx, query.Sort, store.Page{})
	if err != nil {
		return nil, err
	}
	lists := make(map[string]*ResultOrder, len(nodeIDs))
	for i, id := range nodeIDs {
		if head := heads[names[i]]; head != nil {
			lists[id] = &ResultOrder{View: v, List: names[i], Head: head, filter: filter, sort: sort, epoch: epoch}
		}
	}
	for _, a := range lists {
		by := store.SortDefault
		if !a.picked() {
			if len(filter.Ranges) == 0 {
				break
			}
			by = sort.By
			if _, err := v.allKeys(ctx, by); err != nil {
				return nil, err
			}
		}
		return lists, v.wholeAhead(ctx, lists, by)
	}
	return lists, nil
}

// wholeAhead reads lists from end to end as they are kept in an order.
func (v *View) wholeAhead(ctx context.Context, lists map[string]*ResultOrder, by store.SortBy) error {
	var kept []KeptList
	last := 0
	for _, a := range lists {
		if a.Head.Total > 0 {
			names, _, until := a.parts(by, 0, a.Head.Total)
			kept, last = append(kept, names...), max(last, until)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	_, err := ChunksOf(ctx, v, kept, by, 0, last, index.UnpackOrdinals)
	return err
}

// show reads products and marks the curated ones.
func (v *View) show(ctx context.Context, places []uint32, curated []uint32) ([]*Product, error) {
	found, err := v.ProductsAt(ctx, places)
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
