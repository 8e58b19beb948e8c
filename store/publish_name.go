package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
)

// sortedNames works out the sort keys, once the names of all products that
// are written are known.
func (w *releaseWriter) sortedNames(ctx context.Context) (err error) {
	w.idKeys = w.plan.idKeys()
	w.nameKeys, err = w.plan.nameKeys(ctx, &w.naming)
	w.naming = nameOrder{}
	return err
}

// idKeys are the sort keys by id, by handle.
func (p *plan) idKeys() []int64 {
	if p.delta != nil {
		return p.delta.idKeys
	}
	keys := make([]int64, p.ids.len())
	for handle := range keys {
		keys[handle] = int64(handle) * rankStep
	}
	return keys
}

// nameKeys are the sort keys by name, by handle: those of the base where the
// name is one of its, and others in between.
func (p *plan) nameKeys(ctx context.Context, naming *nameOrder) ([]int64, error) {
	keys := make([]int64, p.ids.len())
	if p.delta == nil {
		for i, rank := range naming.ranks() {
			keys[p.order[i]] = rank * rankStep
		}
		return keys, nil
	}
	names := &baseNames{plan: p, known: map[uint32][]byte{}}
	var err error
	if names.keys, err = p.delta.view.allKeys(ctx, SortName); err != nil {
		return nil, err
	}
	for handle, at := range p.delta.places {
		if at >= 0 {
			keys[handle] = names.keys.at(uint32(at))
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

// baseNames are the names of the base's products as they collate, read where
// they are looked at.
type baseNames struct {
	plan  *plan
	keys  keyChunks
	known map[uint32][]byte // by ordinal
}

// read makes names known, in as few statements as products are read.
func (n *baseNames) read(ctx context.Context, places []uint32) error {
	places = slices.DeleteFunc(unique(places), func(at uint32) bool { return n.known[at] != nil })
	found, err := n.plan.delta.view.products(ctx, places)
	for _, product := range found {
		n.known[product.ordinal] = n.plan.collation.key(product.Name())
	}
	return err
}

// renamed are the places in p.order of products whose name is not as in the
// base.
func (n *baseNames) renamed(ctx context.Context, naming *nameOrder) (list []uint32, err error) {
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
		if at := places[handle]; at < 0 || !bytes.Equal(n.known[uint32(at)], naming.at(uint32(i))) {
			list = append(list, uint32(i))
		}
	}
	return list, nil
}

// place finds names in the order of the base's, all of them in one binary
// search, and gives each its sort key.
func (n *baseNames) place(ctx context.Context, wanted []uint32, naming *nameOrder) (map[uint32]int64, error) {
	order := n.order()
	low, high := make(map[uint32]int, len(wanted)), make(map[uint32]int, len(wanted))
	for _, i := range wanted {
		high[i] = len(order)
	}
	for {
		var middle []uint32
		for _, i := range wanted {
			if low[i] < high[i] {
				middle = append(middle, order[(low[i]+high[i])/2])
			}
		}
		if len(middle) == 0 {
			break
		}
		if err := n.read(ctx, middle); err != nil {
			return nil, err
		}
		for _, i := range wanted {
			if at := (low[i] + high[i]) / 2; low[i] < high[i] && bytes.Compare(n.known[order[at]], naming.at(i)) < 0 {
				low[i] = at + 1
			} else if low[i] < high[i] {
				high[i] = at
			}
		}
	}
	slices.SortFunc(wanted, func(a, b uint32) int { return bytes.Compare(naming.at(a), naming.at(b)) })
	found := make(map[uint32]int64, len(wanted))
	for k, i := range wanted {
		at := low[i]
		switch {
		case k > 0 && bytes.Equal(naming.at(wanted[k-1]), naming.at(i)):
			found[i] = found[wanted[k-1]]
		case at < len(order) && bytes.Equal(n.known[order[at]], naming.at(i)):
			found[i] = n.keys.at(order[at])
		case k > 0 && low[wanted[k-1]] == at:
			found[i] = found[wanted[k-1]] + 1
		case at > 0:
			found[i] = n.keys.at(order[at-1]) + 1
		default:
			found[i] = 1 - rankStep
		}
	}
	return found, nil
}

// order is one product of the base for each name, by name.
func (n *baseNames) order() []uint32 {
	order := make([]uint32, n.plan.delta.base.ordinals)
	for at := range order {
		order[at] = uint32(at)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(n.keys.at(a), n.keys.at(b)) })
	return slices.CompactFunc(order, func(a, b uint32) bool { return n.keys.at(a) == n.keys.at(b) })
}
