package release

import (
	"context"
	"sort"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// A view of a delta reads two layers as one: the delta's own, and that of its
// base, which holds all ordinals below the delta's first. What is kept by
// ordinal or by chunk of ordinals is in one of them; what is kept by value, in
// both, and what the base's says of dead ordinals does not count.

// base is the view's lower layer; nil for a whole release.
func (v *View) base() *View {
	if v.Release.BaseID == 0 {
		return nil
	}
	base := *v
	base.memo = &treeMemo{}
	base.Release = &Release{ID: v.Release.BaseID, CatalogID: v.Release.CatalogID, Locale: v.Release.Locale, PublishedAt: store.FromMicros(v.Release.BaseAt),
		Products: v.Release.FirstOrdinal, Ordinals: v.Release.FirstOrdinal}
	return &base
}

// Layers are the releases that the view's rows are kept under, as the first
// arguments of a statement: $1 and $2, the same for a whole release.
func (v *View) Layers() []any {
	if v.Release.BaseID == 0 {
		return []any{v.Release.ID, v.Release.ID}
	}
	return []any{v.Release.ID, v.Release.BaseID}
}

// holder is the release that keeps what stands at an ordinal.
func (r *Release) holder(ordinal int) int64 {
	if ordinal < r.FirstOrdinal {
		return r.BaseID
	}
	return r.ID
}

// ListDead is the list of the base's products that a delta does not show.
const ListDead = "dead"

// Dead are the ordinals of the lower layer that do not count, in order.
func (v *View) Dead(ctx context.Context) (index.Ordinals, error) {
	if v.Release.BaseID == 0 {
		return nil, nil
	}
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedChunk, Name: ListDead}
	if kept, ok := db.Cached[index.Ordinals](v.Cache, key); ok {
		return kept, nil
	}
	body, found, err := db.One(ctx, v.service.db.Reader, db.Scalar[[]byte], `
		SELECT body FROM release_chunk WHERE release_id = $1 AND list = $2 AND sort = '' AND chunk = 0`, v.Release.ID, ListDead)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, errReleaseGone
	}
	list := index.UnpackOrdinals(body)
	v.Cache.Set(key, list)
	return list, nil
}

// subtract drops the ordinals of a sorted list from another.
func subtract(o index.Ordinals, dropped index.Ordinals) index.Ordinals {
	if len(dropped) == 0 {
		return o
	}
	left := make(index.Ordinals, 0, len(o))
	for _, place := range o {
		for len(dropped) > 0 && dropped[0] < place {
			dropped = dropped[1:]
		}
		if len(dropped) == 0 || dropped[0] != place {
			left = append(left, place)
		}
	}
	return left
}

// byUpdate puts sorted ordinals in the order of the last update: each layer
// is in that order by itself.
func (v *View) byUpdate(ctx context.Context, sorted index.Ordinals) (index.Ordinals, error) {
	cut := sort.Search(len(sorted), func(i int) bool { return int(sorted[i]) >= v.Release.FirstOrdinal })
	below, own := sorted[:cut], sorted[cut:]
	if len(below) == 0 || len(own) == 0 {
		return sorted, nil
	}
	updated, err := v.allKeys(ctx, store.SortUpdatedAt)
	if err != nil {
		return nil, err
	}
	ids, err := v.allKeys(ctx, store.SortID)
	if err != nil {
		return nil, err
	}
	merged := make(index.Ordinals, 0, len(sorted))
	for len(below) > 0 && len(own) > 0 {
		next := &below
		if u, b := updated.at(own[0]), updated.at(below[0]); u > b || u == b && ids.at(own[0]) < ids.at(below[0]) {
			next = &own
		}
		merged, *next = append(merged, (*next)[0]), (*next)[1:]
	}
	return append(append(merged, below...), own...), nil
}
