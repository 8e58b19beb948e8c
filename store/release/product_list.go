package release

import (
	"context"
	"slices"
	"strings"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/index"
	"portico/store/release/segment"
)

// ProductQuery requests a page of products.
type ProductQuery struct {
	NodeID      string // the products of a node or hierarchy; empty for all listed products
	Descendants bool   // of a node: also the products of all nodes below it
	Unlisted    bool   // without a node: also the products that no node lists
	Edge        Edge   // instead of a node: the products that one product refers to
	Of          string // that product's id
	Variants    Variants
	Filter      ProductFilter
	Sort        store.Sort // by default: curated first, then last update, newest first, then id
	Page        store.Page
}

// Products lists live products. NOT_FOUND for an unknown node or product.
func (v *View) Products(ctx context.Context, query ProductQuery) (*store.Slice[*Product], error) {
	var err error
	if query.Filter, err = v.resolve(ctx, query.Filter); err != nil {
		return nil, err
	}
	stored, err := v.storedList(ctx, query, query.NodeID)
	if err != nil {
		return nil, err
	}
	v, err = v.follow(ctx, query.Page, stored)
	if err != nil {
		return nil, err
	}
	o, err := v.orderOf(ctx, query)
	if err != nil {
		return nil, err
	}
	if o.sort, o.epoch, err = v.sorting(ctx, query.Sort, query.Filter, query.Page); err != nil {
		return nil, err
	}
	total, read, err := o.arrange(ctx)
	if err != nil {
		return nil, err
	}
	row := store.Cursor{List: store.NewListID(cachekey.New("products"), o.key(), query.Sort.Key()), Epoch: o.epoch}
	if stored != "" {
		row.Release = o.list.Head.Since
	}
	return positioned(ctx, v, row, query.Page, total, func(start, end int) ([]*Product, error) {
		at, err := read(ctx, start, end)
		if err != nil {
			return nil, err
		}
		return v.show(ctx, at, o.list.Head.Curated)
	})
}

// ProductsOfNodes lists the products of several nodes by one query, whose NodeID
// does not matter. Without a cursor it takes as many statements as one node.
func (v *View) ProductsOfNodes(ctx context.Context, nodeIDs []string, query ProductQuery) (map[string]*store.Slice[*Product], error) {
	var err error
	if query.Filter, err = v.resolve(ctx, query.Filter); err != nil {
		return nil, err
	}
	if len(nodeIDs) > 1 && query.Page.After == nil && query.Page.Before == nil {
		if err := v.fetchAhead(ctx, nodeIDs, query); err != nil {
			return nil, err
		}
	}
	pages := make(map[string]*store.Slice[*Product], len(nodeIDs))
	for _, id := range nodeIDs {
		query.NodeID = id
		slice, err := v.Products(ctx, query)
		if err != nil {
			return nil, err
		}
		pages[id] = slice
	}
	return pages, nil
}

// CuratedByNode returns the live curated products of several nodes in the
// merchant's order, by node.
func (v *View) CuratedByNode(ctx context.Context, nodeIDs []string) (map[string][]*Product, error) {
	names := make([]string, len(nodeIDs))
	for i, id := range nodeIDs {
		names[i] = segment.ListOfNode(id)
	}
	heads, err := v.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	var ordinals []uint32
	for _, name := range names {
		if head := heads[name]; head != nil {
			ordinals = append(ordinals, head.Curated...)
		}
	}
	shown, err := v.show(ctx, ordinals, ordinals)
	if err != nil {
		return nil, err
	}
	curated := make(map[string][]*Product, len(nodeIDs))
	for i, name := range names {
		if head := heads[name]; head != nil {
			curated[nodeIDs[i]], shown = shown[:len(head.Curated)], shown[len(head.Curated):]
		}
	}
	return curated, nil
}

// orderOf returns the list of a query, without its sorting.
func (v *View) orderOf(ctx context.Context, query ProductQuery) (*resultOrder, error) {
	if query.Edge != "" {
		return v.orderOfEdge(ctx, query)
	}
	name, err := v.listOfProducts(ctx, query, query.NodeID)
	if err != nil {
		return nil, err
	}
	list, err := v.List(ctx, name)
	if err != nil {
		return nil, err
	}
	o := &resultOrder{View: v, list: list, filter: query.Filter}
	return o, o.exchange(ctx, query.Variants)
}

// listOfProducts returns the name of the list of a node or of all products.
// NOT_FOUND for an unknown node.
func (v *View) listOfProducts(ctx context.Context, query ProductQuery, nodeID string) (string, error) {
	switch {
	case nodeID != "":
		node, err := v.Node(ctx, nodeID)
		if err != nil || !query.Descendants {
			return segment.ListOfNode(nodeID), err
		}
		return node.ListOfSubtree(), nil
	case query.Unlisted:
		return segment.ListEvery, nil
	}
	return segment.ListAll, nil
}

// setMembers makes the list one that the release does not store: of names it in cache keys, members are its products by
// ordinal, and curated those that come first.
func (o *resultOrder) setMembers(of cachekey.Key, members index.Ordinals, curated []uint32) {
	o.of, o.named = of, members
	o.list = segment.List{Reader: &o.Reader, Head: &segment.ListHead{Total: len(members), Curated: curated}}
}

// storedList is listOfProducts if a query reads the list in a stored order, as
// it is; else it is empty.
func (v *View) storedList(ctx context.Context, query ProductQuery, nodeID string) (string, error) {
	if query.Edge != "" || query.Variants != VariantsAsListed || !(&resultOrder{filter: query.Filter, sort: query.Sort}).stored() {
		return "", nil
	}
	name, err := v.listOfProducts(ctx, query, nodeID)
	if store.HasCode(err, store.NotFound) { // a cursor may lead into a release that has the node
		err = nil
	}
	return name, err
}

// noList returns why a list is missing: there is no such node, or the release was
// deleted meanwhile.
func (v *View) noList(ctx context.Context, nodeID string) error {
	if nodeID != "" {
		if _, err := v.Node(ctx, nodeID); err != nil {
			return err
		}
	}
	return segment.ErrGone
}

// fetchAhead caches what a page of each node needs, so that Products finds it there for one node after the other.
func (v *View) fetchAhead(ctx context.Context, nodeIDs []string, query ProductQuery) error {
	b, err := query.Page.Check(v.settings.PageLength)
	if err != nil {
		return err
	}
	lists, err := v.ordersOfNodes(ctx, nodeIDs, query)
	if err != nil {
		return err
	}
	if err := v.chunksAhead(ctx, lists, b); err != nil {
		return err
	}
	return v.pagesAhead(ctx, lists, b)
}

// chunksAhead caches the chunks of the lists' stored order that hold a page.
// Filtered lists were read whole before.
func (v *View) chunksAhead(ctx context.Context, lists map[string]*resultOrder, b store.CheckedPage) error {
	var kept []segment.ChunkRange
	for _, o := range lists {
		if o.computed() || len(o.filter.Ranges) > 0 {
			return nil
		}
		w := b.Window(o.list.Head.Total, -1, -1)
		switch {
		case o.sort.By == store.SortDefault:
			w.Start, w.End = max(0, w.Start-len(o.list.Head.Curated)), max(0, w.End-len(o.list.Head.Curated))
		case o.sort.Descending:
			w.Start, w.End = o.list.Head.Total-w.End, o.list.Head.Total-w.Start
		}
		if chunks, found := o.list.Chunks(o.sort.By, w.Start, w.End); found {
			kept = append(kept, chunks)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	_, err := segment.ChunksOf(ctx, &v.Reader, kept, index.UnpackOrdinals)
	return err
}

// pagesAhead caches the products of a page of each list.
func (v *View) pagesAhead(ctx context.Context, lists map[string]*resultOrder, b store.CheckedPage) error {
	var all []uint32
	for _, o := range lists {
		total, read, err := o.arrange(ctx)
		if err != nil {
			return err
		}
		w := b.Window(total, -1, -1)
		at, err := read(ctx, w.Start, w.End)
		if err != nil {
			return err
		}
		all = append(all, at...)
	}
	_, err := v.ProductsAt(ctx, all)
	return err
}

// ordersOfNodes returns the lists of several nodes for a query, by node. It leaves out nodes without a list. It caches whole
// lists in one statement if they must be filtered, or searched for bounds.
func (v *View) ordersOfNodes(ctx context.Context, nodeIDs []string, query ProductQuery) (map[string]*resultOrder, error) {
	names := make([]string, len(nodeIDs))
	for i, id := range nodeIDs {
		var err error
		if names[i], err = v.listOfProducts(ctx, query, id); err != nil {
			return nil, err
		}
	}
	heads, err := v.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	filter := query.Filter
	sort, epoch, err := v.sorting(ctx, query.Sort, query.Filter, store.Page{})
	if err != nil {
		return nil, err
	}
	lists := make(map[string]*resultOrder, len(nodeIDs))
	for i, id := range nodeIDs {
		if head := heads[names[i]]; head != nil {
			list := segment.List{Reader: &v.Reader, Name: names[i], Head: head}
			lists[id] = &resultOrder{View: v, list: list, filter: filter, sort: sort, epoch: epoch}
		}
	}
	if query.Variants != VariantsAsListed {
		if err := v.wholeAhead(ctx, lists, store.SortDefault); err != nil {
			return nil, err
		}
	}
	for _, o := range lists {
		if err := o.exchange(ctx, query.Variants); err != nil {
			return nil, err
		}
	}
	for _, o := range lists { // one tells for all, which differ by their node only
		by := store.SortDefault
		if !o.computed() {
			if len(filter.Ranges) == 0 {
				break
			}
			by = sort.By
			if _, err := v.AllKeys(ctx, by); err != nil {
				return nil, err
			}
		}
		return lists, v.wholeAhead(ctx, lists, by)
	}
	return lists, nil
}

// wholeAhead caches all chunks of lists in a stored order.
func (v *View) wholeAhead(ctx context.Context, lists map[string]*resultOrder, by store.SortBy) error {
	var kept []segment.ChunkRange
	for _, o := range lists {
		if chunks, found := o.list.WholeChunks(by); found {
			kept = append(kept, chunks)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	_, err := segment.ChunksOf(ctx, &v.Reader, kept, index.UnpackOrdinals)
	return err
}

// show returns the products at some ordinals and marks those that are in curated.
func (v *View) show(ctx context.Context, ordinals []uint32, curated []uint32) ([]*Product, error) {
	found, err := v.ProductsAt(ctx, ordinals)
	if err != nil {
		return nil, err
	}
	shown, list := make([]Product, len(found)), make([]*Product, len(found))
	for i, product := range found {
		shown[i] = Product{product, v.Release, slices.Contains(curated, ordinals[i])}
		list[i] = &shown[i]
	}
	return list, nil
}

// NamesSKU reports whether a filter has a SKU: in a term, or as the whole text of
// a search, as written or in capitals. Such a filter also finds products that no
// node lists.
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
