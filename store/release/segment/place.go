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

// Place is the ordinal of a product in the release.
type Place uint32

func (Place) Size() int { return 8 }

// PlacesByID returns the ordinals of live products. It leaves out unknown ids. stored are places by id
// that were stored with products of the release (StoredProduct.Components). They are not read again
// unless the delta replaced or removed their products.
func (r *Reader) PlacesByID(ctx context.Context, ids []string, stored map[string]Place) (map[string]Place, error) {
	ids = store.ValidIDs(ids)
	r.Reads.AddNames(productKind, ids)
	if len(stored) == 0 {
		return r.readPlaces(ctx, ids)
	}
	dead, err := r.Dead(ctx)
	if err != nil {
		return nil, err
	}
	places, others := make(map[string]Place, len(ids)), []string(nil)
	for _, id := range ids {
		place, known := stored[id]
		if _, isDead := slices.BinarySearch(dead, uint32(place)); known && !isDead {
			places[id] = place
		} else {
			others = append(others, id)
		}
	}
	if len(others) == 0 {
		return places, nil
	}
	read, err := r.readPlaces(ctx, others)
	maps.Copy(places, read)
	return places, err
}

// readPlaces reads the ordinals of live products that are not cached.
func (r *Reader) readPlaces(ctx context.Context, ids []string) (map[string]Place, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedPlace}
	return db.Fetch(r.Cache, key, ids, func(ids []string) (map[string]Place, error) {
		dead, err := r.Dead(ctx)
		if err != nil {
			return nil, err
		}
		places := make(map[string]Place, len(ids))
		of, args := r.InLayers()
		list, args := db.InList(args, ids)
		_, err = db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (at Place, err error) {
			var id string
			err = rows.Scan(&id, &at)
			if _, isDead := slices.BinarySearch(dead, uint32(at)); !isDead {
				places[id] = at
			}
			return at, err
		}, `SELECT product_id, ordinal FROM release_place WHERE release_id IN (`+of+`) AND product_id IN (`+list+`)`, args...)
		return places, err
	})
}

// Ordered returns the ordinals in the order of the release.
func Ordered(places map[string]Place) index.Ordinals {
	list := make(index.Ordinals, 0, len(places))
	for _, at := range places {
		list = append(list, uint32(at))
	}
	slices.Sort(list)
	return list
}
