package segment

import (
	"context"

	"portico/internal/cachekey"
	"portico/store/db"
	"portico/store/index"
)

// ListDead is the name of the list of the base's products that a delta does
// not have.
const ListDead = "dead"

// Dead returns the ordinals of the base layer that do not count, in order.
func (r *Reader) Dead(ctx context.Context) (index.Ordinals, error) {
	if r.Release.BaseID == 0 {
		return nil, nil
	}
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedChunk, Name: cachekey.New(ListDead)}
	if kept, ok := db.Cached[index.Ordinals](r.Cache, key); ok {
		return kept, nil
	}
	body, found, err := db.One(ctx, r.session(), db.Scalar[[]byte], `
		SELECT body FROM release_chunk WHERE release_id = $1 AND list = $2 AND sort = '' AND chunk = 0`, r.Release.ID, ListDead)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrGone
	}
	list := index.UnpackOrdinals(body)
	r.Cache.Set(key, list)
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
	for _, place := range sorted {
		for len(removed) > 0 && removed[0] < place {
			removed = removed[1:]
		}
		if len(removed) == 0 || removed[0] != place {
			left = append(left, place)
		}
	}
	return left
}
