package publish

import (
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// readServedHeads reads the heads of the served release's lists, for a delta.
func (w *releaseWriter) readServedHeads(ctx context.Context) error {
	d := w.plan.delta
	d.served, d.same = map[string]*segment.ListHead{}, map[string]bool{}
	return store.Chunked(w.plan.tree.ProductLists(), 512, func(names []string) error {
		heads, err := w.served.ListHeads(ctx, names)
		maps.Copy(d.served, heads)
		return err
	})
}

// sinceServed returns since when a list of the base, which the delta does not
// change, is the same: 0 if the served release has another.
func (w *releaseWriter) sinceServed(name string, head *segment.ListHead) int64 {
	d := w.plan.delta
	was := d.served[name]
	if was == nil || was.HeldBy != head.HeldBy || was.Total != head.Total || !slices.Equal(was.Curated, head.Curated) {
		return 0
	}
	d.same[name] = true
	return was.Since
}

// changedLists adds the lists that differ, and sets since when the others are the
// same.
func (w *releaseWriter) changedLists(ctx context.Context) error {
	c, err := w.compareLists(ctx)
	if err != nil {
		return err
	}
	names := w.plan.tree.ProductLists()
	if d := w.plan.delta; d != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return d.same[name] })
	}
	return store.Chunked(names, 256, func(names []string) error {
		same, err := c.same(ctx, names)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !same[name] {
				w.changes.Add(segment.ListKey(name))
			}
		}
		if len(same) == 0 {
			return nil
		}
		list, args := db.InList([]any{w.release.ID, w.served.Release.ID}, slices.Sorted(maps.Keys(same)))
		return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			_, err := t.Exec(ctx, `
				UPDATE release_list SET since = (
				    SELECT CASE was.since WHEN 0 THEN was.release_id ELSE was.since END FROM release_list was
				    WHERE was.release_id = $2 AND was.list = release_list.list)
				WHERE release_id = $1 AND list IN (`+list+`)`, args...)
			return err
		})
	})
}

// listComparison compares the lists of two releases. The functions convert
// ordinals of each to numbers that are the same for one product.
type listComparison struct {
	before, now *release.View
	was, is     func([]uint32) index.Ordinals
	base        int64 // that both are deltas of, or that before is; 0 for none
}

func (w *releaseWriter) compareLists(ctx context.Context) (*listComparison, error) {
	c := &listComparison{before: w.servedView(), now: w.ownView(), base: w.release.BaseID}
	var err error
	if w.plan.delta != nil {
		known := map[string]uint32{}
		if c.is, err = w.canonicalIDs(ctx, c.now, known); err == nil {
			c.was, err = w.canonicalIDs(ctx, c.before, known)
		}
		return c, err
	}
	handles := make([]uint32, w.served.Release.Ordinals)
	for i := range handles {
		handles[i] = math.MaxUint32 // gone
	}
	for handle, place := range w.places {
		if w.before[handle].published != 0 {
			handles[place] = uint32(handle)
		}
	}
	c.was = func(list []uint32) index.Ordinals { return convert(list, handles) }
	c.is = func(list []uint32) index.Ordinals { return convert(list, w.plan.order) }
	return c, nil
}

func convert(list, numbers []uint32) index.Ordinals {
	converted := make(index.Ordinals, len(list))
	for i, ordinal := range list {
		converted[i] = numbers[ordinal]
	}
	return converted
}

// same returns which of several lists are the same in all orders.
func (c *listComparison) same(ctx context.Context, names []string) (map[string]bool, error) {
	now, before := c.now.Ahead(), c.before.Ahead()
	heads, err := now.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	served, err := before.ListHeads(ctx, names)
	if err != nil {
		return nil, err
	}
	if err := readAhead(ctx, now, heads); err != nil {
		return nil, err
	}
	if err := readAhead(ctx, before, served); err != nil {
		return nil, err
	}
	same := map[string]bool{}
	for _, name := range names {
		if heads[name] == nil || served[name] == nil {
			continue
		}
		is, err := c.sameList(ctx,
			segment.List{Reader: &before.Reader, Name: name, Head: served[name]},
			segment.List{Reader: &now.Reader, Name: name, Head: heads[name]})
		if err != nil {
			return nil, err
		}
		if is {
			same[name] = true
		}
	}
	return same, nil
}

func (c *listComparison) sameList(ctx context.Context, before, now segment.List) (bool, error) {
	if before.Head.Total != now.Head.Total || !slices.Equal(c.was(before.Head.Curated), c.is(now.Head.Curated)) {
		return false, nil
	}
	for _, by := range segment.StoredOrders {
		if same, err := c.sameOrder(ctx, by, before, now); err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameOrder compares two lists in one order. Of lists of one base it compares the
// parts that one of them has itself.
func (c *listComparison) sameOrder(ctx context.Context, by store.SortBy, before, now segment.List) (bool, error) {
	var own []int
	inParts := c.base != 0
	for _, list := range []segment.List{before, now} {
		numbers, patched := list.OwnParts(by)
		own, inParts = append(own, numbers...), inParts && (patched || list.Head.HeldBy == c.base)
	}
	if !inParts {
		was, err := before.All(ctx, by)
		if err != nil {
			return false, err
		}
		is, err := now.All(ctx, by)
		return slices.Equal(c.was(was), c.is(is)), err
	}
	for _, number := range store.Unique(own) {
		was, err := before.Part(ctx, by, number)
		if err != nil {
			return false, err
		}
		is, err := now.Part(ctx, by, number)
		if err != nil || !slices.Equal(c.was(was), c.is(is)) {
			return false, err
		}
	}
	return true, nil
}

// readAhead caches the chunks of whole lists, in one statement for each order. A
// patched list is read by itself: few are.
func readAhead(ctx context.Context, v *release.View, heads map[string]*segment.ListHead) error {
	for _, by := range segment.StoredOrders {
		var kept []segment.KeptList
		last := 0
		for name, head := range heads {
			list := segment.List{Reader: &v.Reader, Name: name, Head: head}
			if _, patched := list.OwnParts(by); !patched && head.Total > 0 {
				kept, last = append(kept, head.Kept(name)), max(last, (head.Total-1)/segment.ChunkSize)
			}
		}
		if len(kept) == 0 {
			continue
		}
		if _, err := segment.ChunksOf(ctx, &v.Reader, kept, by, 0, last, index.UnpackOrdinals); err != nil {
			return err
		}
	}
	return nil
}

// canonicalIDs returns a function that converts ordinals to numbers that are the
// same in every delta of a base: the ordinal in the base, else a number from the
// top, which known assigns to the id.
func (w *releaseWriter) canonicalIDs(ctx context.Context, v *release.View, known map[string]uint32) (func([]uint32) index.Ordinals, error) {
	own := map[uint32]uint32{}
	if v.Release.BaseID != 0 {
		type product struct {
			id      string
			ordinal uint32
		}
		products, err := db.Collect(ctx, w.service.db.Reader, func(rows *sql.Rows) (p product, err error) {
			return p, rows.Scan(&p.id, &p.ordinal)
		}, `SELECT product_id, ordinal FROM release_place WHERE release_id = $1`, v.Release.ID)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(products))
		for i, p := range products {
			ids[i] = p.id
		}
		inBase := map[string]segment.Place{}
		if err := store.Chunked(ids, 512, func(ids []string) error {
			some, err := w.plan.delta.view.PlacesByID(ctx, ids, nil)
			maps.Copy(inBase, some)
			return err
		}); err != nil {
			return nil, err
		}
		for _, p := range products {
			at, ok := inBase[p.id]
			if own[p.ordinal] = uint32(at); !ok {
				if _, numbered := known[p.id]; !numbered {
					known[p.id] = math.MaxUint32 - uint32(len(known))
				}
				own[p.ordinal] = known[p.id]
			}
		}
	}
	return func(list []uint32) index.Ordinals {
		named := make(index.Ordinals, len(list))
		for i, ordinal := range list {
			if named[i] = ordinal; int(ordinal) >= v.Release.FirstOrdinal && v.Release.BaseID != 0 {
				named[i] = own[ordinal]
			}
		}
		return named
	}, nil
}
