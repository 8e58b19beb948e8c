package compare

import (
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// Lists compares lists with those of the served release, to find since when they are the same. Was converts ordinals of the
// served release, and Is those of the new one, to numbers that are the same for one product.
type Lists struct {
	View  *release.View                // of the served release; nil if there is none, or if everything differs
	ahead *release.View                // that has read the lists of ReadAhead
	heads map[string]*segment.ListHead // of these lists
	Was   func(ordinal uint32) uint32  // nil if View is
	Is    func(ordinal uint32) uint32  // likewise
}

// ReadAhead reads the served release's lists of some names, for Since. It forgets those that it read before.
func (l *Lists) ReadAhead(ctx context.Context, names []string) (err error) {
	if l.View == nil {
		return nil
	}
	l.ahead = l.View.Ahead()
	l.heads, err = ReadLists(ctx, l.ahead, names)
	return err
}

// ReadLists reads the heads of lists and caches their chunks, in a statement each.
func ReadLists(ctx context.Context, v *release.View, names []string) (map[string]*segment.ListHead, error) {
	heads := map[string]*segment.ListHead{}
	if err := store.Chunked(names, AtOnce, func(names []string) error {
		some, err := v.ListHeads(ctx, names)
		maps.Copy(heads, some)
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

// Since returns the release since which a list is the same as it is now, in all orders: 0 if the served release has another,
// or none. ReadAhead has read it.
func (l *Lists) Since(ctx context.Context, name string, curated []uint32, orders map[store.SortBy][]uint32) (int64, error) {
	head := l.heads[name]
	if head == nil || head.Total != len(orders[store.SortID]) || !l.same(head.Curated, curated) {
		return 0, nil
	}
	list := segment.List{Reader: &l.ahead.Reader, Name: name, Head: head}
	for _, by := range segment.StoredOrders {
		was, err := list.All(ctx, by)
		if err != nil || !l.same(was, orders[by]) {
			return 0, err
		}
	}
	return head.Since, nil
}

// same reports whether a list of the served release and one of the new release have the same products.
func (l *Lists) same(was, is []uint32) bool {
	return slices.EqualFunc(was, is, func(was, is uint32) bool { return l.Was(was) == l.Is(is) })
}
