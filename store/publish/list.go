package publish

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/index"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// listWriter writes lists, and compares them with those of the served release.
type listWriter struct {
	*releaseWriter
	served *compare.Lists // not releaseWriter.served, the view that these are read from
}

// listsAtOnce is the number of lists that are compared at once.
const listsAtOnce = 256

// lists writes ListAll, ListEvery and the lists of every node and hierarchy.
func (w *releaseWriter) lists(ctx context.Context) error {
	served, err := w.compareLists(ctx)
	if err != nil {
		return err
	}
	l := &listWriter{releaseWriter: w, served: served}
	if w.plan.delta != nil {
		return l.delta(ctx)
	}
	return store.Chunked(w.plan.lists(), listsAtOnce, func(lists []nodeList) error {
		names := make([]string, len(lists))
		for i, list := range lists {
			names[i] = list.name
		}
		if err := l.served.ReadAhead(ctx, names); err != nil {
			return err
		}
		for _, list := range lists {
			if err := l.add(ctx, list.name, list.members(), list.curated); err != nil {
				return err
			}
		}
		return nil
	})
}

// nodeList is a list of products that the release will have: those of a node, of its subtree, of all nodes (ListAll), or
// all products (ListEvery). Products are named by handles, as publicationPlan has them, and written by ordinals.
type nodeList struct {
	name    string
	node    *segment.CatalogNode // nil for ListAll and ListEvery
	members func() []uint32      // in any order, perhaps twice; the caller may change them
	curated []uint32             // those that come first, in order
}

// lists returns all lists of a whole release.
func (p *publicationPlan) lists() []nodeList {
	lists := []nodeList{{name: segment.ListAll, members: func() (all []uint32) {
		for _, a := range p.nodesOf {
			all = append(all, a.handle)
		}
		return all
	}}, {name: segment.ListEvery, members: func() []uint32 { return slices.Clone(p.order) }}}
	for _, node := range p.tree.Nodes {
		lists = append(lists, p.listsOf(node)...)
	}
	return lists
}

// listsOf returns the list of a node or hierarchy and, if it has another, that of its subtree.
func (p *publicationPlan) listsOf(node *segment.CatalogNode) []nodeList {
	own := segment.ListOfNode(node.ID)
	lists := []nodeList{{own, node, func() []uint32 { return slices.Clone(p.attached[node.ID]) }, p.curated[node.ID]}}
	if name := node.ListOfSubtree(); name != own {
		lists = append(lists, nodeList{name, node, func() (members []uint32) {
			for _, below := range p.tree.Below([]string{node.ID}) {
				members = append(members, p.attached[below.ID]...)
			}
			return members
		}, p.curated[node.ID]})
	}
	return lists
}

// add writes one list in each of its orders. It sorts handles, and moves them about.
func (l *listWriter) add(ctx context.Context, name string, handles, curated []uint32) error {
	slices.Sort(handles)
	handles = slices.Compact(handles)
	orders := map[store.SortBy][]uint32{store.SortID: l.toOrdinals(handles)} // handles are in this order
	for by, keys := range map[store.SortBy][]int64{store.SortCreatedAt: l.plan.created, store.SortUpdatedAt: l.plan.updated, store.SortName: l.nameKeys} {
		slices.SortFunc(handles, func(a, b uint32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
		orders[by] = l.toOrdinals(handles)
	}
	rest := slices.DeleteFunc(handles, func(handle uint32) bool { return slices.Contains(curated, handle) })
	l.plan.sortByUpdate(rest)
	orders[store.SortDefault] = l.toOrdinals(rest)
	return l.write(ctx, name, l.toOrdinals(curated), orders, nil)
}

// write writes a list that has products in some orders; if changes is not nil, these in place of the orders. If the served
// release has another list, it adds the list to what changed.
func (l *listWriter) write(ctx context.Context, name string, curated []uint32, orders map[store.SortBy][]uint32, changes []byte) error {
	since, err := l.served.Since(ctx, name, curated, orders)
	if err != nil {
		return err
	}
	if since == 0 { // the served release has another list, or none
		l.changes.Add(segment.ListKey(name))
	}
	if err := l.put(ctx, "release_list", []any{l.release.ID, name, len(orders[store.SortID]), index.PackOrdinals(curated), changes, since}); err != nil || changes != nil {
		return err
	}
	for _, by := range segment.StoredOrders {
		if err := l.put(ctx, "release_chunk", chunkRows(l.release.ID, name, by, 0, orders[by], index.PackOrdinals)...); err != nil {
			return err
		}
	}
	return nil
}

// toOrdinals returns the ordinals of products that are in the release.
func (w *releaseWriter) toOrdinals(handles []uint32) []uint32 {
	ordinals := make([]uint32, len(handles))
	for i, handle := range handles {
		ordinals[i] = uint32(w.plan.ordinals[handle])
	}
	return ordinals
}

// sortKeys writes the sort keys of the products by ordinal.
func (w *releaseWriter) sortKeys(ctx context.Context) error {
	sorts := map[store.SortBy][]int64{store.SortCreatedAt: w.plan.created, store.SortUpdatedAt: w.plan.updated, store.SortID: w.idKeys, store.SortName: w.nameKeys}
	for _, by := range slices.Sorted(maps.Keys(sorts)) {
		own := make([]int64, len(w.plan.order))
		for i, handle := range w.plan.order {
			own[i] = sorts[by][handle]
		}
		if err := w.put(ctx, "release_chunk", chunkRows(w.release.ID, segment.ListKeys, by, w.plan.first/segment.ChunkSize, own, index.PackKeys)...); err != nil {
			return err
		}
	}
	return nil
}

// dead writes the ordinals of the parent that a delta replaces or removes.
func (w *releaseWriter) dead(ctx context.Context) error {
	if w.plan.delta == nil {
		return nil
	}
	return w.put(ctx, "release_chunk", []any{w.release.ID, segment.ListDead, "", 0, index.PackOrdinals(w.plan.delta.dead)})
}

// chunkRows returns the rows of a list, its chunks numbered from first.
func chunkRows[T any](releaseID int64, list string, by store.SortBy, first int, values []T, pack func([]T) []byte) (rows [][]any) {
	for chunk := range slices.Chunk(values, segment.ChunkSize) {
		rows = append(rows, []any{releaseID, list, string(by), first + len(rows), pack(chunk)})
	}
	return rows
}
