package release

import (
	"cmp"
	"context"
	"slices"

	"portico/store"
	"portico/store/index"
)

// order sorts what was found.
func (a *ResultOrder) order(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
	var err error
	switch a.sort.By {
	case store.SortDefault:
		return a.curatedFirst(ctx, found)
	case store.SortPrice:
		prices, err := a.priceOrder(ctx, a.epoch)
		if err != nil {
			return nil, err
		}
		return prices.sort(found, a.sort.Descending), nil
	case store.SortRelevance:
		if found, err = a.curatedFirst(ctx, found); err == nil {
			err = a.byRelevance(ctx, found)
		}
	default:
		err = a.byKey(ctx, found)
	}
	if a.sort.Descending {
		slices.Reverse(found)
	}
	return found, err
}

// curatedFirst is the list's own order: curated products first, unless the
// filter names ids.
func (a *ResultOrder) curatedFirst(ctx context.Context, found index.Ordinals) (index.Ordinals, error) {
	if a.filter.byID() {
		return a.byUpdate(ctx, found)
	}
	curated := intersectOrdered(a.Head.Curated, found)
	rest := slices.DeleteFunc(found, func(place uint32) bool { return slices.Contains(curated, place) })
	rest, err := a.byUpdate(ctx, rest)
	return append(curated, rest...), err
}

// byRelevance puts products first that have more of the searched words in
// their name or SKU.
func (a *ResultOrder) byRelevance(ctx context.Context, found index.Ordinals) error {
	var named []index.OrdinalSet
	for _, search := range a.filter.Searches {
		words, err := a.hits(ctx, search)
		if err != nil {
			return err
		}
		for _, word := range words {
			named = append(named, word.named)
		}
	}
	scores := make(map[uint32]int, len(found))
	for _, place := range found {
		for _, word := range named {
			if word.Has(place) {
				scores[place]++
			}
		}
	}
	slices.SortStableFunc(found, func(x, y uint32) int { return cmp.Compare(scores[y], scores[x]) })
	return nil
}

// byKey sorts by a stored sort key, then id.
func (a *ResultOrder) byKey(ctx context.Context, found index.Ordinals) error {
	keys, err := a.allKeys(ctx, a.sort.By)
	if err != nil {
		return err
	}
	ranks, err := a.allKeys(ctx, store.SortID)
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(x, y uint32) int {
		return cmp.Or(cmp.Compare(keys.at(x), keys.at(y)), cmp.Compare(ranks.at(x), ranks.at(y)))
	})
	return nil
}

// intersectOrdered keeps those of a short list that a sorted one has.
func intersectOrdered(list []uint32, sorted index.Ordinals) index.Ordinals {
	both := index.Ordinals{}
	for _, place := range list {
		if _, found := slices.BinarySearch(sorted, place); found {
			both = append(both, place)
		}
	}
	return both
}

// keyChunks are the sort keys of all products, by ordinal; 0 for ordinals
// between the layers, which no product has.
type keyChunks []index.Keys

func (k keyChunks) at(place uint32) int64 {
	if part := k[place/ChunkSize]; int(place%ChunkSize) < len(part) {
		return part[place%ChunkSize]
	}
	return 0
}

func (v *View) allKeys(ctx context.Context, by store.SortBy) (keyChunks, error) {
	r := v.Release
	below, err := v.keysFrom(ctx, r.BaseID, by, 0, r.FirstOrdinal)
	if err != nil {
		return nil, err
	}
	own, err := v.keysFrom(ctx, r.ID, by, r.FirstOrdinal, r.Ordinals)
	return append(below, own...), err
}

// keysFrom are the sort keys that a release holds, from an ordinal that begins
// a chunk until just before end.
func (v *View) keysFrom(ctx context.Context, release int64, by store.SortBy, start, end int) (keyChunks, error) {
	if start == end {
		return nil, nil
	}
	list := KeptList{release, ListKeys}
	parts, err := readChunks(ctx, v, list, by, start/ChunkSize, (end-1)/ChunkSize, index.UnpackKeys)
	return slices.Clone(parts), err
}

// KeyAt is one sort key.
func (v *View) KeyAt(ctx context.Context, by store.SortBy, ordinal int) (int64, error) {
	list := KeptList{v.Release.holder(ordinal), ListKeys}
	parts, err := readChunks(ctx, v, list, by, ordinal/ChunkSize, ordinal/ChunkSize, index.UnpackKeys)
	if err != nil {
		return 0, err
	}
	return parts[0][ordinal%ChunkSize], nil
}
