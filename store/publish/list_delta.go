package publish

import (
	"context"
	"slices"

	"portico/store"
	"portico/store/index"
	"portico/store/release/segment"
)

// deltaLists writes the lists of a delta: for most only the head, which refers to
// the base's list, and for the others the parts that differ.
func (w *releaseWriter) deltaLists(ctx context.Context) error {
	d := w.plan.delta
	affected, err := w.affectedLists(ctx)
	if err != nil {
		return err
	}
	if err := w.readServedHeads(ctx); err != nil {
		return err
	}
	l := &listWriter{releaseWriter: w}
	add := func(name string, members, curated []uint32, recurated bool) error {
		head := d.heads[name]
		switch {
		case head == nil: // a new node: all its products are the delta's own
			return l.add(ctx, name, members, curated)
		case affected[name] || recurated:
			now := head.Curated
			if recurated {
				now = w.toOrdinals(curated)
			}
			return l.writeChangedList(ctx, name, head, w.ownOrdinals(members), now)
		}
		l.heads = append(l.heads, []any{w.release.ID, name, head.Total, index.PackOrdinals(head.Curated), head.HeldBy, nil, w.sinceServed(name, head)})
		return l.flushFull(ctx)
	}
	var attached []uint32
	for _, a := range w.plan.nodesOf {
		attached = append(attached, a.handle)
	}
	if err := add(segment.ListAll, attached, nil, false); err != nil {
		return err
	}
	if err := add(segment.ListEvery, w.plan.order, nil, false); err != nil {
		return err
	}
	for _, node := range w.plan.tree.Nodes {
		own := d.heads[segment.ListOfNode(node.ID)]
		for _, list := range w.plan.listsOf(node) {
			if d.heads[list.name] == nil && own != nil { // it had no node below
				err = l.addSubtree(ctx, node, own, w.ownOrdinals(list.members))
			} else {
				err = add(list.name, list.members, w.plan.curated[node.ID], d.curated[node.ID])
			}
			if err != nil {
				return err
			}
		}
	}
	return l.flush(ctx)
}

// affectedLists returns the lists that dead products were in, and those of the
// delta's own products.
func (w *releaseWriter) affectedLists(ctx context.Context) (map[string]bool, error) {
	p, d := w.plan, w.plan.delta
	lists := map[string]bool{segment.ListAll: true, segment.ListEvery: true}
	for _, a := range p.nodesOf {
		if int(p.ordinals[a.handle]) >= p.first {
			node := p.tree.Nodes[a.node]
			addLists(lists, p.tree, node.ID)
		}
	}
	before, err := d.view.Tree(ctx)
	if err != nil {
		return nil, err
	}
	return lists, store.Chunked(d.dead, 512, func(places []uint32) error {
		products, err := d.view.ProductsAt(ctx, places)
		for _, product := range products {
			for _, id := range product.NodeIDs() {
				addLists(lists, before, id)
				addLists(lists, p.tree, id)
			}
		}
		return err
	})
}

// addLists adds the lists in which a tree has the products of a node.
func addLists(lists map[string]bool, tree *segment.Tree, id string) {
	lists[segment.ListOfNode(id)] = true
	node := tree.ByID[id]
	if node == nil {
		return
	}
	for _, above := range append(slices.Clone(node.Ancestors), id) {
		lists[tree.ByID[above].ListOfSubtree()] = true
	}
}

// ownOrdinals returns the ordinals of the products that the delta holds itself.
func (w *releaseWriter) ownOrdinals(handles []uint32) (own []uint32) {
	for _, handle := range store.Unique(handles) {
		if ordinal := w.plan.ordinals[handle]; int(ordinal) >= w.plan.first {
			own = append(own, uint32(ordinal))
		}
	}
	return own
}

// listChange is what changes in a list of the base: the ordinals that go and come, in all products of the list and among
// those that are not curated.
type listChange struct{ gone, come, goneUncurated, comeUncurated []uint32 }

// listChange returns what changes in a list of the base that loses its dead products, gets others, and has other curated
// ones.
func (l *listWriter) listChange(ctx context.Context, base segment.List, come, curated []uint32) (c listChange, err error) {
	if c.gone, err = l.ordinalsInList(ctx, base, l.plan.delta.dead); err != nil {
		return c, err
	}
	isDead := func(ordinal uint32) bool { _, dead := slices.BinarySearch(l.plan.delta.dead, ordinal); return dead }
	among := func(list []uint32) func(uint32) bool {
		return func(ordinal uint32) bool { return slices.Contains(list, ordinal) }
	}
	was := base.Head.Curated
	c.come, c.goneUncurated, c.comeUncurated = come, slices.DeleteFunc(slices.Clone(c.gone), among(was)), slices.DeleteFunc(slices.Clone(come), among(curated))
	for _, ordinal := range curated {
		if int(ordinal) < l.plan.first && !slices.Contains(was, ordinal) {
			c.goneUncurated = append(c.goneUncurated, ordinal)
		}
	}
	for _, ordinal := range was {
		if !isDead(ordinal) && !slices.Contains(curated, ordinal) {
			c.comeUncurated = append(c.comeUncurated, ordinal)
		}
	}
	return c, nil
}

// in returns the ordinals that go and come in one order. The list's own order begins with the curated products, which
// the head has.
func (c listChange) in(by store.SortBy) (gone, come []uint32) {
	if by == store.SortDefault {
		return c.goneUncurated, c.comeUncurated
	}
	return c.gone, c.come
}

// writeChangedList writes a list of the base without dead products, with the products that
// came, and with other curated ones.
func (l *listWriter) writeChangedList(ctx context.Context, name string, head *segment.ListHead, come, curated []uint32) error {
	base := segment.List{Reader: &l.plan.delta.view.Reader, Name: name, Head: head}
	change, err := l.listChange(ctx, base, come, curated)
	if err != nil {
		return err
	}
	parts := map[store.SortBy]segment.ListParts{}
	for _, by := range segment.StoredOrders {
		length := head.Total
		if by == store.SortDefault {
			length -= len(head.Curated)
		}
		gone, come := change.in(by)
		if parts[by], err = l.changedParts(ctx, base, by, length, gone, come); err != nil {
			return err
		}
	}
	total := head.Total - len(change.gone) + len(come)
	l.heads = append(l.heads, []any{l.release.ID, name, total, index.PackOrdinals(curated), l.release.ID, segment.PackParts(parts), 0})
	return l.flushFull(ctx)
}

// addSubtree writes the list of the subtree of a node below which the base has no node, in whole: it is the base's list of
// the node without dead products, with the products that came.
func (l *listWriter) addSubtree(ctx context.Context, node *segment.CatalogNode, head *segment.ListHead, come []uint32) error {
	curated := head.Curated
	if l.plan.delta.curated[node.ID] {
		curated = l.toOrdinals(l.plan.curated[node.ID])
	}
	base := segment.List{Reader: &l.plan.delta.view.Reader, Name: segment.ListOfNode(node.ID), Head: head}
	change, err := l.listChange(ctx, base, come, curated)
	if err != nil {
		return err
	}
	for _, by := range segment.StoredOrders {
		was, err := base.All(ctx, by)
		if err != nil {
			return err
		}
		gone, come := change.in(by)
		patches, err := l.patches(ctx, base, by, len(was), gone, come)
		if err != nil {
			return err
		}
		l.ordinals(node.ListOfSubtree(), by, applyPatches(patches, 0, was))
	}
	total := head.Total - len(change.gone) + len(come)
	l.heads = append(l.heads, []any{l.release.ID, node.ListOfSubtree(), total, index.PackOrdinals(curated), l.release.ID, nil, 0})
	return l.flushFull(ctx)
}

// ordinalsInList returns those of some ordinals of the base that are in a list.
func (l *listWriter) ordinalsInList(ctx context.Context, base segment.List, places index.Ordinals) (held []uint32, err error) {
	for _, ordinal := range places {
		_, id, err := l.sortKeys(ctx, store.SortID, ordinal)
		if err != nil {
			return nil, err
		}
		at, err := l.position(ctx, base, store.SortID, base.Head.Total, patch{id: id})
		if err != nil {
			return nil, err
		}
		if at == base.Head.Total {
			continue
		}
		found, err := base.Stored(ctx, store.SortID, at, at+1)
		if err != nil {
			return nil, err
		}
		if found[0] == ordinal {
			held = append(held, ordinal)
		}
	}
	return held, nil
}
