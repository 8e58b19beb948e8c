package publish

import (
	"cmp"
	"context"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// listWriter collects lists, to write many short ones in one transaction.
type listWriter struct {
	*releaseWriter
	heads, chunks [][]any
	size          int // of the chunks, in bytes
}

// lists writes ListAll, ListEvery and the lists of every node and hierarchy.
func (w *releaseWriter) lists(ctx context.Context) error {
	if w.plan.delta != nil {
		return w.deltaLists(ctx)
	}
	var all, every []uint32
	for _, a := range w.plan.nodesOf {
		all = append(all, a.handle)
	}
	for handle, ordinal := range w.plan.ordinals {
		if ordinal >= 0 {
			every = append(every, uint32(handle))
		}
	}
	l := &listWriter{releaseWriter: w}
	if err := l.add(ctx, segment.ListAll, all, nil); err != nil {
		return err
	}
	if err := l.add(ctx, segment.ListEvery, every, nil); err != nil {
		return err
	}
	for _, node := range w.plan.tree.Nodes {
		for _, list := range w.plan.listsOf(node) {
			if err := l.add(ctx, list.name, list.members, w.plan.curated[node.ID]); err != nil {
				return err
			}
		}
	}
	return l.flush(ctx)
}

// nodeList is a list of a node, with the handles of its products in any order.
type nodeList struct {
	name    string
	members []uint32
}

// listsOf returns the list of a node or hierarchy and, if it has another, that of its subtree.
func (p *publicationPlan) listsOf(node *segment.CatalogNode) []nodeList {
	lists := []nodeList{{segment.ListOfNode(node.ID), p.attached[node.ID]}}
	if name := node.ListOfSubtree(); name != lists[0].name {
		var members []uint32
		for _, below := range p.tree.Below([]string{node.ID}) {
			members = append(members, p.attached[below.ID]...)
		}
		lists = append(lists, nodeList{name, members})
	}
	return lists
}

// add writes one list in each of its orders.
func (l *listWriter) add(ctx context.Context, name string, handles, curated []uint32) error {
	handles = slices.Clone(handles)
	slices.Sort(handles)
	handles = slices.Compact(handles)
	first := l.toOrdinals(curated)
	l.heads = append(l.heads, []any{l.release.ID, name, len(handles), index.PackOrdinals(first), l.release.ID, nil, 0})
	l.order(name, store.SortID, handles) // handles are in this order
	for by, keys := range map[store.SortBy][]int64{store.SortCreatedAt: l.plan.created, store.SortUpdatedAt: l.plan.updated, store.SortName: l.nameKeys} {
		slices.SortFunc(handles, func(a, b uint32) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
		l.order(name, by, handles)
	}
	rest := slices.DeleteFunc(handles, func(handle uint32) bool { return slices.Contains(curated, handle) })
	l.plan.sortByUpdate(rest)
	l.order(name, store.SortDefault, rest)
	return l.flushFull(ctx)
}

// order adds the list in one of its orders.
func (l *listWriter) order(name string, by store.SortBy, handles []uint32) {
	l.ordinals(name, by, l.toOrdinals(handles))
}

// ordinals adds the list in one of its orders, by ordinal.
func (l *listWriter) ordinals(name string, by store.SortBy, list []uint32) {
	rows := chunkRows(l.release.ID, name, by, 0, list, index.PackOrdinals)
	l.chunks = append(l.chunks, rows...)
	for _, row := range rows {
		l.size += chunkRowSize(row)
	}
}

func (l *listWriter) flushFull(ctx context.Context) error {
	if len(l.heads) < sortedBatch && l.size < listBytes {
		return nil
	}
	return l.flush(ctx)
}

func (l *listWriter) flush(ctx context.Context) error {
	if err := l.batch(ctx, func(ctx context.Context, t *db.Tx) error {
		return l.insert(ctx, t, "release_list", []string{"release_id", "list", "total", "curated", "held_by", "parts", "since"}, l.heads)
	}); err != nil {
		return err
	}
	err := l.writeChunks(ctx, l.chunks)
	l.heads, l.chunks, l.size = l.heads[:0], l.chunks[:0], 0
	return err
}

func (w *releaseWriter) toOrdinals(handles []uint32) []uint32 {
	places := make([]uint32, len(handles))
	for i, handle := range handles {
		places[i] = uint32(w.plan.ordinals[handle])
	}
	return places
}

// sortKeys writes the sort keys of the products by ordinal.
func (w *releaseWriter) sortKeys(ctx context.Context) error {
	for by, keys := range map[store.SortBy][]int64{store.SortCreatedAt: w.plan.created, store.SortUpdatedAt: w.plan.updated, store.SortID: w.idKeys, store.SortName: w.nameKeys} {
		own := make([]int64, len(w.plan.order))
		for i, handle := range w.plan.order {
			own[i] = keys[handle]
		}
		if err := w.writeChunks(ctx, chunkRows(w.release.ID, segment.ListKeys, by, w.plan.first/segment.ChunkSize, own, index.PackKeys)); err != nil {
			return err
		}
	}
	return nil
}

// dead writes the products of the base that a delta does not have.
func (w *releaseWriter) dead(ctx context.Context) error {
	if w.plan.delta == nil {
		return nil
	}
	return w.writeChunks(ctx, [][]any{{w.release.ID, segment.ListDead, "", 0, index.PackOrdinals(w.plan.delta.dead)}})
}

// chunkRows returns the rows of a list, its chunks numbered from first.
func chunkRows[T any](releaseID int64, list string, by store.SortBy, first int, values []T, pack func([]T) []byte) (rows [][]any) {
	for chunk := range slices.Chunk(values, segment.ChunkSize) {
		rows = append(rows, []any{releaseID, list, string(by), first + len(rows), pack(chunk)})
	}
	return rows
}
