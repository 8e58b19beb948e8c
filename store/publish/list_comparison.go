package publish

import (
	"context"
	"math"
	"slices"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// listComparison compares lists with those of the served release, to find since when they are the same. The functions
// convert ordinals of each to numbers that are the same for one product.
type listComparison struct {
	view  *release.View // of the served release; nil if there is none, or if everything differs
	ahead *release.View // that has read the lists of readAhead
	heads map[string]*segment.ListHead
	was   func(ordinal uint32) uint32
	is    func(ordinal uint32) uint32
}

func (w *releaseWriter) compareLists(ctx context.Context) (*listComparison, error) {
	if w.served == nil || w.everything {
		return &listComparison{}, nil
	}
	c := &listComparison{view: w.servedView()}
	if d := w.plan.delta; d != nil {
		return c, w.compareListsOfDelta(ctx, c)
	}
	handles := make([]uint32, w.served.Release.Ordinals)
	for i := range handles {
		handles[i] = math.MaxUint32 // gone
	}
	for handle, was := range w.before {
		if was.published != 0 {
			handles[was.place] = uint32(handle)
		}
	}
	c.was = func(ordinal uint32) uint32 { return handles[ordinal] }
	c.is = func(ordinal uint32) uint32 { return w.plan.order[ordinal] }
	return c, nil
}

// compareListsOfDelta sets was and is. The number of a product is its ordinal in the parent. Others have numbers from the
// top.
func (w *releaseWriter) compareListsOfDelta(ctx context.Context, c *listComparison) error {
	p, d := w.plan, w.plan.delta
	if d.parent.Same(w.served.Release) {
		c.was = func(ordinal uint32) uint32 { return ordinal }
		c.is = func(ordinal uint32) uint32 {
			if int(ordinal) < p.first {
				return ordinal
			}
			handle := p.order[int(ordinal)-p.first]
			if place := d.places[handle]; place >= 0 {
				return uint32(place)
			}
			return math.MaxUint32 - handle
		}
		return nil
	}
	// The served release shares some layers with the parent, or none with an unserved base.
	ids, err := d.view.AllIDs(ctx)
	if err != nil {
		return err
	}
	servedIDs, err := c.view.AllIDs(ctx)
	if err != nil {
		return err
	}
	numbers := map[string]uint32{}
	for _, layer := range d.parent.Layers() { // of several versions of a product the last, which is not dead
		for ordinal := layer.First; ordinal < layer.End; ordinal++ {
			numbers[ids.At(uint32(ordinal))] = uint32(ordinal)
		}
	}
	number := func(id string) uint32 {
		if _, known := numbers[id]; !known {
			numbers[id] = math.MaxUint32 - uint32(len(numbers))
		}
		return numbers[id]
	}
	c.was = func(ordinal uint32) uint32 { return number(servedIDs.At(ordinal)) }
	c.is = func(ordinal uint32) uint32 {
		if int(ordinal) < p.first {
			return number(ids.At(ordinal))
		}
		return number(p.ids.At(p.order[int(ordinal)-p.first]))
	}
	return nil
}

// readAhead reads the served release's lists of some names.
func (c *listComparison) readAhead(ctx context.Context, names []string) (err error) {
	if c.view == nil {
		return nil
	}
	c.ahead = c.view.Ahead()
	c.heads, err = readLists(ctx, c.ahead, names)
	return err
}

// readLists reads the heads of lists and caches their chunks, in a statement each.
func readLists(ctx context.Context, v *release.View, names []string) (map[string]*segment.ListHead, error) {
	heads := map[string]*segment.ListHead{}
	if err := store.Chunked(names, 512, func(names []string) error {
		some, err := v.ListHeads(ctx, names)
		for name, head := range some {
			heads[name] = head
		}
		return err
	}); err != nil {
		return nil, err
	}
	var kept []segment.ChunkRange
	for name, head := range heads {
		for _, by := range segment.StoredOrders {
			if chunks, found := (segment.List{Reader: &v.Reader, Name: name, Head: head}).WholeChunks(by); found {
				kept = append(kept, chunks)
			}
		}
	}
	_, err := segment.ChunksOf(ctx, &v.Reader, kept, index.UnpackOrdinals)
	return heads, err
}

// since returns since when a list is the same as it is now, in all orders: 0 if the served release has another. readAhead
// has read it.
func (c *listComparison) since(ctx context.Context, name string, curated []uint32, orders map[store.SortBy][]uint32) (int64, error) {
	head := c.heads[name]
	if head == nil || head.Total != len(orders[store.SortID]) || !c.same(head.Curated, curated) {
		return 0, nil
	}
	list := segment.List{Reader: &c.ahead.Reader, Name: name, Head: head}
	for _, by := range segment.StoredOrders {
		was, err := list.All(ctx, by)
		if err != nil || !c.same(was, orders[by]) {
			return 0, err
		}
	}
	return head.Since, nil
}

func (c *listComparison) same(was, is []uint32) bool {
	return slices.EqualFunc(was, is, func(was, is uint32) bool { return c.was(was) == c.is(is) })
}
