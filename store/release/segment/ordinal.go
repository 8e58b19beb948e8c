package segment

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// Ordinal is the number of a product in the release.
type Ordinal uint32

// Size is the memory of a cached ordinal in bytes: the heap has no smaller piece.
func (Ordinal) Size() int { return 8 }

// OrdinalsByID returns the ordinals of live products. It leaves out unknown ids. stored are ordinals by id
// that were stored with products of the release (StoredProduct.Components); nil for none. They are not read again
// unless a layer above replaced or removed their products.
func (r *Reader) OrdinalsByID(ctx context.Context, ids []string, stored map[string]Ordinal) (map[string]Ordinal, error) {
	ids = store.ValidIDs(ids)
	r.Reads.AddNames(productKind, ids)
	if len(stored) == 0 {
		return r.readOrdinals(ctx, ids)
	}
	dead, err := r.Dead(ctx)
	if err != nil {
		return nil, err
	}
	ordinals, others := make(map[string]Ordinal, len(ids)), []string(nil)
	for _, id := range ids {
		ordinal, known := stored[id]
		if _, isDead := slices.BinarySearch(dead, uint32(ordinal)); known && !isDead {
			ordinals[id] = ordinal
		} else {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return ordinals, nil
	}
	read, err := r.readOrdinals(ctx, others)
	maps.Copy(ordinals, read)
	return ordinals, err
}

// readOrdinals returns the ordinals of live products, by id, from the cache or the database. It leaves out unknown ids.
func (r *Reader) readOrdinals(ctx context.Context, ids []string) (map[string]Ordinal, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedOrdinal}
	return db.Fetch(r.Cache, key, ids, func(ids []string) (map[string]Ordinal, error) {
		dead, err := r.Dead(ctx)
		if err != nil {
			return nil, err
		}
		ordinals := make(map[string]Ordinal, len(ids))
		of, args := r.InLayers()
		list, args := db.InList(args, ids)
		_, err = db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (at Ordinal, err error) {
			var id string
			err = rows.Scan(&id, &at)
			if _, isDead := slices.BinarySearch(dead, uint32(at)); !isDead {
				ordinals[id] = at
			}
			return at, err
		}, `SELECT product_id, ordinal FROM release_place WHERE release_id IN (`+of+`) AND product_id IN (`+list+`)`, args...)
		return ordinals, err
	})
}

// Ordered returns the ordinals of a map in ascending order.
func Ordered(ordinals map[string]Ordinal) index.Ordinals {
	list := make(index.Ordinals, 0, len(ordinals))
	for _, at := range ordinals {
		list = append(list, uint32(at))
	}
	slices.Sort(list)
	return list
}
