package segment

import (
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/store/db"
	"portico/store/index"
)

// ListDead is the name of the list of the products of the layers below that a delta does
// not have. A delta has those that the layers below still had.
const ListDead = "dead"

// Dead returns the ordinals of all layers that do not count, in order: of products that a layer above replaced or removed. A
// whole release has none.
func (r *Reader) Dead(ctx context.Context) (index.Ordinals, error) {
	if r.Release.BaseID == 0 {
		return nil, nil
	}
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedChunk, Name: cachekey.New(ListDead)}
	if kept, ok := db.Cached[index.Ordinals](r.Cache, key); ok {
		return kept, nil
	}
	list, err := r.DeadIn(ctx, r.Release.Layers())
	if err == nil {
		r.Cache.Set(key, list)
	}
	return list, err
}

// DeadIn returns the ordinals that some layers of the release replaced or removed in the layers below them, in order. The base
// has none below. ErrGone when a layer is missing.
func (r *Reader) DeadIn(ctx context.Context, layers []Layer) (list index.Ordinals, err error) {
	var ids []int64
	for _, layer := range layers {
		if layer.ID != r.Release.LayerIDs()[0] {
			ids = append(ids, layer.ID)
		}
	}
	bodies, err := db.CollectIn(ctx, r.session(), db.Scalar[[]byte], ids, `
		SELECT body FROM release_chunk WHERE list = $1 AND sort = '' AND chunk = 0 AND release_id IN ($in)`, ListDead)
	if err != nil {
		return nil, err
	}
	if len(bodies) < len(ids) {
		return nil, ErrGone
	}
	for _, body := range bodies {
		list = append(list, index.UnpackOrdinals(body)...)
	}
	slices.Sort(list)
	return list, nil
}

// Live returns sorted ordinals without the dead ones.
func (r *Reader) Live(ctx context.Context, sorted index.Ordinals) (index.Ordinals, error) {
	dead, err := r.Dead(ctx)
	return subtract(sorted, dead), err
}

// subtract removes the ordinals of a sorted list from another.
func subtract(sorted, removed index.Ordinals) index.Ordinals {
	if len(removed) == 0 {
		return sorted
	}
	left := make(index.Ordinals, 0, len(sorted))
	for _, ordinal := range sorted {
		for len(removed) > 0 && removed[0] < ordinal {
			removed = removed[1:]
		}
		if len(removed) == 0 || removed[0] != ordinal {
			left = append(left, ordinal)
		}
	}
	return left
}
