package publish

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sort"
	"strings"

	"portico/store"
	"portico/store/index"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// errNoRoom is returned when there are no sort keys left between two neighbours of the parent.
var errNoRoom = &store.Error{Code: store.Internal, Detail: "there is no room between two sort keys"}

// sortedNames computes the sort keys, once the names of all products are known.
func (w *releaseWriter) sortedNames(ctx context.Context) (err error) {
	w.idKeys, w.nameKeys = make([]int64, w.plan.ids.Len()), make([]int64, w.plan.ids.Len())
	if w.plan.delta != nil {
		if err := w.idKeysOfDelta(ctx); err != nil {
			return err
		}
		err = w.nameKeysOfDelta(ctx)
	} else {
		for handle := range w.idKeys {
			w.idKeys[handle] = int64(handle) * rankStep
		}
		for i, rank := range w.naming.Ranks() {
			w.nameKeys[w.plan.order[i]] = rank * rankStep
		}
	}
	w.naming = index.NameOrder{}
	return err
}

// keyed is an element of a sorted list, with its sort key.
type keyed[T any] struct {
	is  T
	key int64
}

// insertKeys returns sort keys for added elements, which are in order, each once, between those that the parent has, as at
// returns them in order. An element has the key of an equal one of the parent. Others that come between the same two
// neighbours divide the room between these; at an end rankStep is between them. errNoRoom if they are too many.
func insertKeys[T any](parent int, at func(i int) keyed[T], added []T, order func(a, b T) int) ([]int64, error) {
	keys := make([]int64, len(added))
	for first := 0; first < len(added); {
		position := sort.Search(parent, func(i int) bool { return order(at(i).is, added[first]) >= 0 })
		if position < parent && order(at(position).is, added[first]) == 0 {
			keys[first] = at(position).key
			first++
			continue
		}
		end := first + 1
		for end < len(added) && (position == parent || order(at(position).is, added[end]) > 0) {
			end++
		}
		room := int64(end-first) + 1
		before, after := -rankStep*room, int64(0)
		if position < parent {
			after = at(position).key
			before = after - rankStep*room
		}
		if position > 0 {
			if before = at(position - 1).key; position == parent {
				after = before + rankStep*room
			}
		}
		step := (after - before) / room
		if step < 1 {
			return nil, errNoRoom
		}
		for i := first; i < end; i++ {
			keys[i] = before + step*int64(i-first+1)
		}
		first = end
	}
	return keys, nil
}

// idKeysOfDelta sets the sort keys by id, by handle. Products that the parent has keep their keys; new ones have keys in
// between. Dead products of the parent have keys too, by which bounds of ids are found (Reader.IDRank).
func (w *releaseWriter) idKeysOfDelta(ctx context.Context) error {
	p, d := w.plan, w.plan.delta
	var added []string
	for _, handle := range slices.Sorted(slices.Values(p.order)) {
		if at := d.parentOrdinals[handle]; at < 0 {
			added = append(added, p.ids.At(handle))
		}
	}
	all, err := w.parentKeys(ctx)
	if err != nil {
		return err
	}
	known := all[store.SortID]
	var keys []int64
	if len(added) > 0 {
		ids, err := d.view.AllIDs(ctx)
		if err != nil {
			return err
		}
		every, err := w.every(ctx)
		if err != nil {
			return err
		}
		live, err := every.All(ctx, store.SortID)
		if err != nil {
			return err
		}
		dead, err := d.view.Dead(ctx)
		if err != nil {
			return err
		}
		order := slices.Concat(live, dead)
		slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(known.At(a), known.At(b)) })
		at := func(i int) keyed[string] { return keyed[string]{ids.At(order[i]), known.At(order[i])} }
		if keys, err = insertKeys(len(order), at, added, strings.Compare); err != nil {
			return err
		}
	}
	for _, handle := range slices.Sorted(slices.Values(p.order)) {
		if at := d.parentOrdinals[handle]; at >= 0 {
			w.idKeys[handle] = known.At(uint32(at))
		} else {
			w.idKeys[handle], keys = keys[0], keys[1:]
		}
	}
	return nil
}

// nameKeysOfDelta sets the sort keys by name, by handle: those of the parent for its
// names, and keys in between for others.
func (w *releaseWriter) nameKeysOfDelta(ctx context.Context) error {
	p, d := w.plan, w.plan.delta
	all, err := w.parentKeys(ctx)
	if err != nil {
		return err
	}
	known := all[store.SortName]
	var renamed []uint32 // positions in order
	for i, handle := range p.order {
		at := d.parentOrdinals[handle]
		if at >= 0 {
			w.nameKeys[handle] = known.At(uint32(at))
		}
		name, changed := d.names[p.ids.At(handle)]
		if at < 0 || changed && !bytes.Equal(p.collation.Key(name), w.naming.At(uint32(i))) {
			renamed = append(renamed, uint32(i))
		}
	}
	if len(renamed) == 0 {
		return nil
	}
	names, err := d.view.AllNames(ctx)
	if err != nil {
		return err
	}
	every, err := w.every(ctx)
	if err != nil {
		return err
	}
	order, err := every.All(ctx, store.SortName)
	if err != nil {
		return err
	}
	at := func(i int) keyed[[]byte] {
		return keyed[[]byte]{p.collation.Key(names.At(order[i])), known.At(order[i])}
	}
	slices.SortFunc(renamed, func(a, b uint32) int { return bytes.Compare(w.naming.At(a), w.naming.At(b)) })
	var added [][]byte
	for _, i := range renamed {
		if name := w.naming.At(i); len(added) == 0 || !bytes.Equal(added[len(added)-1], name) {
			added = append(added, name)
		}
	}
	keys, err := insertKeys(len(order), at, added, bytes.Compare)
	if err != nil {
		return err
	}
	for _, i := range renamed {
		if !bytes.Equal(added[0], w.naming.At(i)) {
			added, keys = added[1:], keys[1:]
		}
		w.nameKeys[p.order[i]] = keys[0]
	}
	return nil
}

// every returns the list of all products of a delta's parent, whose chunks in all orders are cached.
func (w *releaseWriter) every(ctx context.Context) (segment.List, error) {
	view := w.plan.delta.view
	heads, err := compare.ReadLists(ctx, view, []string{segment.ListEvery})
	if err == nil && heads[segment.ListEvery] == nil {
		err = segment.ErrGone
	}
	return segment.List{Reader: &view.Reader, Name: segment.ListEvery, Head: heads[segment.ListEvery]}, err
}
