package publish

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"portico/store"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// listChange is what changes in a list of the parent: the ordinals that go and come, in all products of the list and
// among those that are not curated.
type listChange struct{ gone, come, goneUncurated, comeUncurated []uint32 }

// delta writes the lists of a delta that differ from those of its parent: of most only the changes.
func (l *listWriter) delta(ctx context.Context) error {
	d := l.plan.delta
	before, err := d.view.Tree(ctx)
	if err != nil {
		return err
	}
	changed, err := l.changedLists(ctx, before)
	if err != nil {
		return err
	}
	had, has := nameSet(before.ProductLists()), nameSet(l.plan.tree.ProductLists()) // the parent had, the release has
	for name := range had {
		if !has[name] {
			if err := l.put(ctx, "release_list", []any{l.release.ID, name, segment.NoList, []byte{}, nil, 0}); err != nil {
				return err
			}
		}
	}
	for name := range has {
		if !had[name] && changed[name] == nil {
			changed[name] = &listChange{}
		}
	}
	names := slices.DeleteFunc(compare.SortedIDs(changed), func(name string) bool { return !has[name] })
	bases := slices.Clone(names) // also what lists of subtrees are made from
	for _, node := range l.plan.tree.Nodes {
		if name := node.ListOfSubtree(); !had[name] { // it is made from the node's own list (writeChanged)
			bases = append(bases, segment.ListOfNode(node.ID))
		}
	}
	heads, err := compare.ReadLists(ctx, d.view, store.Unique(bases))
	if err != nil {
		return err
	}
	if err := l.served.ReadAhead(ctx, names); err != nil {
		return err
	}
	for _, list := range l.plan.lists() {
		change := changed[list.name]
		if change == nil {
			continue
		}
		if err := l.writeChanged(ctx, list, change, heads); err != nil {
			return err
		}
	}
	return nil
}

func nameSet(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// changedLists returns the lists in which dead products were and own products are, with those; the lists of nodes
// whose curated products may differ; and those that the layers of the served release above the parent have.
func (l *listWriter) changedLists(ctx context.Context, before *segment.Tree) (map[string]*listChange, error) {
	p, d := l.plan, l.plan.delta
	changed := map[string]*listChange{segment.ListEvery: {}}
	of := func(name string) *listChange {
		if changed[name] == nil {
			changed[name] = &listChange{}
		}
		return changed[name]
	}
	of(segment.ListEvery).gone, of(segment.ListEvery).come = d.dead, l.ownOrdinals(p.order)
	for _, a := range p.nodesOf {
		if own := l.ownOrdinals([]uint32{a.handle}); len(own) > 0 {
			for _, name := range listsWith(p.tree, p.tree.Nodes[a.node].ID) {
				change := of(name)
				change.come = append(change.come, own...)
			}
		}
	}
	if err := store.Chunked(d.dead, 512, func(ordinals []uint32) error {
		products, err := d.view.ProductsAt(ctx, ordinals)
		for _, product := range products {
			for _, id := range product.NodeIDs() { // also those of its parent, in whose lists it may not be
				for _, name := range listsWith(before, id) {
					change := of(name)
					change.gone = append(change.gone, product.Ordinal)
				}
			}
		}
		return err
	}); err != nil {
		return nil, err
	}
	for id := range d.curated {
		of(segment.ListOfNode(id))
		of(p.tree.ByID[id].ListOfSubtree())
	}
	above := make([]int64, len(d.above))
	for i, layer := range d.above {
		above[i] = layer.ID
	}
	others, err := db.CollectIn(ctx, l.service.db.Reader, db.Scalar[string], above, `SELECT DISTINCT list FROM release_list WHERE release_id IN ($in)`)
	for _, name := range others {
		of(name)
	}
	return changed, err
}

// listsWith returns the lists in which a tree has the products of a node.
func listsWith(tree *segment.Tree, id string) []string {
	names := []string{segment.ListAll, segment.ListOfNode(id)}
	if node := tree.ByID[id]; node != nil {
		for _, above := range append(slices.Clone(node.Ancestors), id) {
			names = append(names, tree.ByID[above].ListOfSubtree())
		}
	}
	return store.Unique(names)
}

// ownOrdinals returns the ordinals of the products that the delta holds itself.
func (w *releaseWriter) ownOrdinals(handles []uint32) (own []uint32) {
	for _, handle := range handles {
		if ordinal := w.plan.ordinals[handle]; int(ordinal) >= w.plan.first {
			own = append(own, uint32(ordinal))
		}
	}
	return own
}

// writeChanged writes a list that the parent has otherwise, or not at all. It begins with the parent's list of that name, and
// then writes only the changes. Else it begins with the node's own list, if the node had no nodes below it, or with none.
func (l *listWriter) writeChanged(ctx context.Context, list nodeList, change *listChange, heads map[string]*segment.ListHead) error {
	d := l.plan.delta
	base := segment.List{Reader: &d.view.Reader, Name: list.name, Head: heads[list.name]}
	node := list.node
	if base.Head == nil && node != nil { // the list of a subtree where the parent has no node below the node
		base.Name = segment.ListOfNode(node.ID)
		base.Head = heads[base.Name]
	}
	if base.Head == nil { // a new node: all its products are the delta's own
		return l.add(ctx, list.name, list.members(), list.curated)
	}
	curated := base.Head.Curated
	if node != nil && d.curated[node.ID] {
		curated = l.toOrdinals(list.curated)
	}
	if base.Name != list.name {
		own := l.ownOrdinals(list.members())
		change = &listChange{gone: d.dead, come: own}
	}
	byID, err := base.All(ctx, store.SortID)
	if err != nil {
		return err
	}
	if err := change.complete(ctx, l, base.Head.Curated, curated, byID); err != nil {
		return err
	}
	changes, orders := segment.ListChanges{}, map[store.SortBy][]uint32{}
	for _, by := range segment.StoredOrders {
		was, err := base.All(ctx, by)
		if err != nil {
			return err
		}
		gone, come := change.in(by)
		if changes[by], err = l.positions(ctx, was, by, gone, come); err != nil {
			return err
		}
		orders[by] = applyChanges(was, changes[by])
	}
	var packed []byte
	if base.Name == list.name {
		packed = changes.Pack()
	}
	return l.write(ctx, list.name, curated, orders, packed)
}

// complete leaves only products of the list in gone, and adds what changes among those that are not curated. was and curated
// are the curated products before and now, byID is the list before by id. A product that becomes curated goes from the others,
// and one that no longer is comes to them.
func (c *listChange) complete(ctx context.Context, l *listWriter, was, curated, byID []uint32) (err error) {
	d := l.plan.delta
	slices.Sort(c.come)
	slices.Sort(c.gone)
	c.come = slices.Compact(c.come)
	var gone []uint32
	for _, ordinal := range slices.Compact(c.gone) {
		at, err := l.position(ctx, byID, store.SortID, ordinal)
		if err != nil {
			return err
		}
		if at < len(byID) && byID[at] == ordinal {
			gone = append(gone, ordinal)
		}
	}
	c.gone = gone
	isDead := func(ordinal uint32) bool { _, dead := slices.BinarySearch(d.dead, ordinal); return dead }
	among := func(list []uint32) func(uint32) bool {
		return func(ordinal uint32) bool { return slices.Contains(list, ordinal) }
	}
	c.goneUncurated, c.comeUncurated = slices.DeleteFunc(slices.Clone(c.gone), among(was)), slices.DeleteFunc(slices.Clone(c.come), among(curated))
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
	return nil
}

// in returns the ordinals that go and come in one order. The list's own order begins with the curated products, which
// the head has.
func (c *listChange) in(by store.SortBy) (gone, come []uint32) {
	if by == store.SortDefault {
		return c.goneUncurated, c.comeUncurated
	}
	return c.gone, c.come
}

// positions returns the changes for the ordinals that go and come in one order of a list of the parent, by position.
func (l *listWriter) positions(ctx context.Context, was []uint32, by store.SortBy, gone, come []uint32) ([]segment.ListChange, error) {
	type placed struct {
		segment.ListChange
		key, id int64
	}
	var all []placed
	for i, list := range [][]uint32{gone, come} {
		for _, ordinal := range list {
			at, err := l.position(ctx, was, by, ordinal)
			if err != nil {
				return nil, err
			}
			p := placed{ListChange: segment.ListChange{At: at, Added: i == 1, Ordinal: ordinal}}
			if p.key, p.id, err = l.sortKeysOf(ctx, by, ordinal); err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	// At one position, an added product comes before the one that was there.
	slices.SortFunc(all, func(a, b placed) int {
		if a.Added != b.Added && a.At == b.At {
			if a.Added {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
	})
	changes := make([]segment.ListChange, len(all))
	for i, p := range all {
		changes[i] = p.ListChange
	}
	return changes, nil
}

// applyChanges returns a list after changes.
func applyChanges(was []uint32, changes []segment.ListChange) []uint32 {
	is, at := make([]uint32, 0, len(was)+len(changes)), 0
	for _, c := range changes {
		is, at = append(is, was[at:c.At]...), c.At
		if c.Added {
			is = append(is, c.Ordinal)
		} else {
			at++
		}
	}
	return append(is, was[at:]...)
}

// position returns the position in a list of the first product that does not sort before another.
func (l *listWriter) position(ctx context.Context, list []uint32, by store.SortBy, ordinal uint32) (int, error) {
	key, id, err := l.sortKeysOf(ctx, by, ordinal)
	if err != nil {
		return 0, err
	}
	at := sort.Search(len(list), func(i int) bool {
		otherKey, otherID, failed := l.sortKeysOf(ctx, by, list[i])
		err = cmp.Or(err, failed)
		return otherKey > key || otherKey == key && otherID >= id
	})
	return at, err
}

// sortKeysOf returns the sort keys of a product of the parent or the delta in an order
// of lists: the lower comes first.
func (l *listWriter) sortKeysOf(ctx context.Context, by store.SortBy, ordinal uint32) (key, id int64, err error) {
	p := l.plan
	if int(ordinal) >= p.first {
		handle := p.order[int(ordinal)-p.first]
		switch by {
		case store.SortDefault:
			key = -p.updated[handle]
		case store.SortCreatedAt:
			key = p.created[handle]
		case store.SortUpdatedAt:
			key = p.updated[handle]
		case store.SortName:
			key = l.nameKeys[handle]
		}
		return key, l.idKeys[handle], nil
	}
	keys, err := l.parentKeys(ctx)
	if err != nil {
		return 0, 0, err
	}
	switch id = keys[store.SortID].At(ordinal); by {
	case store.SortID:
		return 0, id, nil
	case store.SortDefault:
		return -keys[store.SortUpdatedAt].At(ordinal), id, nil
	}
	return keys[by].At(ordinal), id, nil
}

// parentKeys returns the sort keys of the parent, which are read once.
func (w *releaseWriter) parentKeys(ctx context.Context) (keys map[store.SortBy]segment.Keys, err error) {
	if w.keys == nil {
		w.keys, err = w.plan.delta.view.ListSortKeys(ctx)
	}
	return w.keys, err
}
