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
		if err := add(segment.ListOfNode(node.ID), w.plan.attached[node.ID], w.plan.curated[node.ID], d.curated[node.ID]); err != nil {
			return err
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
			lists[segment.ListOfNode(node.ID)], lists[segment.ListOfNode(node.HierarchyID)] = true, true
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
				lists[segment.ListOfNode(id)] = true
				if node := before.ByID[id]; node != nil {
					lists[segment.ListOfNode(node.HierarchyID)] = true
				}
			}
		}
		return err
	})
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

// writeChangedList writes a list of the base without dead products, with the products that
// came, and with other curated ones.
func (l *listWriter) writeChangedList(ctx context.Context, name string, head *segment.ListHead, come, curated []uint32) error {
	d := l.plan.delta
	base := segment.List{Reader: &d.view.Reader, Name: name, Head: head}
	gone, err := l.ordinalsInList(ctx, base, d.dead)
	if err != nil {
		return err
	}
	isDead := func(ordinal uint32) bool { _, dead := slices.BinarySearch(d.dead, ordinal); return dead }
	among := func(list []uint32) func(uint32) bool {
		return func(ordinal uint32) bool { return slices.Contains(list, ordinal) }
	}
	// The list's own order begins with the curated products, which the head has.
	goneInOrder := slices.DeleteFunc(slices.Clone(gone), among(head.Curated))
	comeInOrder := slices.DeleteFunc(slices.Clone(come), among(curated))
	for _, ordinal := range curated {
		if int(ordinal) < l.plan.first && !slices.Contains(head.Curated, ordinal) {
			goneInOrder = append(goneInOrder, ordinal)
		}
	}
	for _, ordinal := range head.Curated {
		if !isDead(ordinal) && !slices.Contains(curated, ordinal) {
			comeInOrder = append(comeInOrder, ordinal)
		}
	}
	parts := map[store.SortBy]segment.ListParts{}
	for _, by := range segment.StoredOrders {
		length := head.Total
		if by == store.SortDefault {
			length -= len(head.Curated)
			parts[by], err = l.changedParts(ctx, base, by, length, goneInOrder, comeInOrder)
		} else {
			parts[by], err = l.changedParts(ctx, base, by, length, gone, come)
		}
		if err != nil {
			return err
		}
	}
	total := head.Total - len(gone) + len(come)
	l.heads = append(l.heads, []any{l.release.ID, name, total, index.PackOrdinals(curated), l.release.ID, segment.PackParts(parts), 0})
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
