package publish

import (
	"bytes"
	"context"
	"maps"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// sortedNames computes the sort keys, once the names of all products are known.
func (w *releaseWriter) sortedNames(ctx context.Context) (err error) {
	if w.idKeys, err = w.plan.idKeys(ctx); err != nil {
		return err
	}
	w.nameKeys, err = w.plan.nameKeys(ctx, &w.naming)
	w.naming = index.NameOrder{}
	return err
}

// idKeys returns the sort keys by id, by handle. Products of a delta have those of
// the base; new ones have keys in between.
func (p *publicationPlan) idKeys(ctx context.Context) ([]int64, error) {
	keys := make([]int64, p.ids.Len())
	if p.delta == nil {
		for handle := range keys {
			keys[handle] = int64(handle) * rankStep
		}
		return keys, nil
	}
	last := int64(-rankStep)
	for _, handle := range slices.Sorted(slices.Values(p.order)) {
		key, found, err := p.idKeyUpTo(ctx, handle)
		if err != nil {
			return nil, err
		}
		if last = max(last, key); !found { // not in the base
			last++
		}
		keys[handle] = last
	}
	return keys, nil
}

// idKeyUpTo returns the base's sort key of a product, else of the one before it.
func (p *publicationPlan) idKeyUpTo(ctx context.Context, handle uint32) (key int64, itself bool, err error) {
	at := int(p.delta.places[handle])
	if itself = at >= 0; !itself {
		var before bool
		at, before, err = db.One(ctx, p.in, db.Scalar[int], `
			SELECT ordinal FROM release_place WHERE release_id = $1 AND product_id < $2 ORDER BY product_id DESC LIMIT 1`,
			p.delta.base.ID, p.ids.At(handle))
		if err != nil || !before {
			return -rankStep, false, err
		}
	}
	key, err = p.delta.view.KeyAt(ctx, store.SortID, at)
	return key, itself, err
}

// nameKeys returns the sort keys by name, by handle: those of the base for its
// names, and keys in between for others.
func (p *publicationPlan) nameKeys(ctx context.Context, naming *index.NameOrder) ([]int64, error) {
	keys := make([]int64, p.ids.Len())
	if p.delta == nil {
		for i, rank := range naming.Ranks() {
			keys[p.order[i]] = rank * rankStep
		}
		return keys, nil
	}
	view := p.delta.view
	every, err := view.List(ctx, segment.ListEvery)
	if err != nil {
		return nil, err
	}
	names := &baseNames{plan: p, known: map[uint32][]byte{}, every: every}
	for _, handle := range p.order {
		if at := p.delta.places[handle]; at >= 0 {
			if keys[handle], err = view.KeyAt(ctx, store.SortName, int(at)); err != nil {
				return nil, err
			}
		}
	}
	renamed, err := names.renamed(ctx, naming)
	if err != nil || len(renamed) == 0 {
		return keys, err
	}
	found, err := names.place(ctx, renamed, naming)
	for i, key := range found {
		keys[p.order[i]] = key
	}
	return keys, err
}

// baseNames are the collation keys of the base's names, read as needed.
type baseNames struct {
	plan  *publicationPlan
	every segment.List      // the list of them all
	known map[uint32][]byte // by ordinal
}

// read reads names that are not known yet.
func (n *baseNames) read(ctx context.Context, places []uint32) error {
	places = slices.DeleteFunc(store.Unique(places), func(at uint32) bool { return n.known[at] != nil })
	found, err := n.plan.delta.view.ProductsAt(ctx, places)
	for _, product := range found {
		n.known[product.Ordinal] = n.plan.collation.Key(product.Name())
	}
	return err
}

// renamed returns the positions in order of products whose name differs from the
// base.
func (n *baseNames) renamed(ctx context.Context, naming *index.NameOrder) (list []uint32, err error) {
	places := n.plan.delta.places
	var had []uint32
	for _, handle := range n.plan.order {
		if places[handle] >= 0 {
			had = append(had, uint32(places[handle]))
		}
	}
	if err := n.read(ctx, had); err != nil {
		return nil, err
	}
	for i, handle := range n.plan.order {
		if at := places[handle]; at < 0 || !bytes.Equal(n.known[uint32(at)], naming.At(uint32(i))) {
			list = append(list, uint32(i))
		}
	}
	return list, nil
}

// place returns the sort keys of new names. It finds all of them among the base's
// names in one binary search.
func (n *baseNames) place(ctx context.Context, wanted []uint32, naming *index.NameOrder) (map[uint32]int64, error) {
	low, high := make(map[uint32]int, len(wanted)), make(map[uint32]int, len(wanted))
	for _, i := range wanted {
		high[i] = n.every.Head.Total
	}
	for {
		middle := map[uint32]uint32{} // ordinals
		for _, i := range wanted {
			if low[i] < high[i] {
				at, err := n.ordinal(ctx, (low[i]+high[i])/2)
				if err != nil {
					return nil, err
				}
				middle[i] = at
			}
		}
		if len(middle) == 0 {
			break
		}
		if err := n.read(ctx, slices.Collect(maps.Values(middle))); err != nil {
			return nil, err
		}
		for i, at := range middle {
			if bytes.Compare(n.known[at], naming.At(i)) < 0 {
				low[i] = (low[i]+high[i])/2 + 1
			} else {
				high[i] = (low[i] + high[i]) / 2
			}
		}
	}
	slices.SortFunc(wanted, func(a, b uint32) int { return bytes.Compare(naming.At(a), naming.At(b)) })
	found := make(map[uint32]int64, len(wanted))
	for k, i := range wanted {
		if k > 0 && bytes.Equal(naming.At(wanted[k-1]), naming.At(i)) {
			found[i] = found[wanted[k-1]]
			continue
		}
		key, same, err := n.keyUpTo(ctx, low[i], naming.At(i))
		if err != nil {
			return nil, err
		}
		if !same && k > 0 && low[wanted[k-1]] == low[i] {
			key = found[wanted[k-1]]
		}
		if !same {
			key++
		}
		found[i] = key
	}
	return found, nil
}

// keyUpTo returns the sort key of a name at a position of the base's names if it is
// there, else of the name before it.
func (n *baseNames) keyUpTo(ctx context.Context, position int, name []byte) (key int64, same bool, err error) {
	for _, at := range []int{position, position - 1} {
		if at < 0 {
			return -rankStep, false, nil
		}
		if at == n.every.Head.Total {
			continue
		}
		ordinal, err := n.ordinal(ctx, at)
		if err != nil {
			return 0, false, err
		}
		if err := n.read(ctx, []uint32{ordinal}); err != nil {
			return 0, false, err
		}
		if same = bytes.Equal(n.known[ordinal], name); same || at < position {
			key, err = n.every.KeyAt(ctx, store.SortName, int(ordinal))
			return key, same, err
		}
	}
	return -rankStep, false, nil
}

// ordinal returns the product at a position in the order of names.
func (n *baseNames) ordinal(ctx context.Context, position int) (uint32, error) {
	at, err := n.every.Stored(ctx, store.SortName, position, position+1)
	if err != nil {
		return 0, err
	}
	return at[0], nil
}
