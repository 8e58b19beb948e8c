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

// lists writes ListAll, ListEvery and the list of every node and hierarchy.
func (w *releaseWriter) lists(ctx context.Context) error {
	if w.plan.delta != nil {
		return w.deltaLists(ctx)
	}
	names := []string{segment.ListAll, segment.ListEvery}
	handles := make(map[string][]uint32, len(w.plan.tree.Nodes)+2)
	for _, a := range w.plan.nodesOf {
		handles[segment.ListAll] = append(handles[segment.ListAll], a.handle)
	}
	for handle, ordinal := range w.plan.ordinals {
		if ordinal >= 0 {
			handles[segment.ListEvery] = append(handles[segment.ListEvery], uint32(handle))
		}
	}
	curated := map[string][]uint32{}
	for _, node := range w.plan.tree.Nodes {
		name := segment.ListOfNode(node.ID)
		names = append(names, name)
		handles[name], curated[name] = w.plan.attached[node.ID], w.plan.curated[node.ID]
	}
	l := &listWriter{releaseWriter: w}
	for _, name := range names {
		if err := l.add(ctx, name, handles[name], curated[name]); err != nil {
			return err
		}
	}
	return l.flush(ctx)
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
	rows := chunkRows(l.release.ID, name, by, 0, l.toOrdinals(handles), index.PackOrdinals)
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
		return t.InsertRows(ctx, "release_list", []string{"release_id", "list", "total", "curated", "held_by", "parts", "since"}, l.heads)
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
