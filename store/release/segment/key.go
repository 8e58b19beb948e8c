package segment

import (
	"context"
	"database/sql"
	"math"
	"slices"
	"sort"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// ListKeys is the name of the lists of sort keys, by ordinal.
const ListKeys = "keys"

// Keys are the sort keys of all products in one order, by chunk.
type Keys []index.Keys

// At returns the sort key of a product; 0 for the ordinals between the layers,
// which no product has.
func (k Keys) At(ordinal uint32) int64 {
	if part := k[ordinal/ChunkSize]; int(ordinal%ChunkSize) < len(part) {
		return part[ordinal%ChunkSize]
	}
	return 0
}

// AllKeys returns the sort keys of all products.
func (r *Reader) AllKeys(ctx context.Context, by store.SortBy) (Keys, error) {
	r.Reads.Add(AnyProduct)
	keys, err := chunksOfAll(ctx, r, ListKeys, []store.SortBy{by}, index.UnpackKeys)
	return keys[by], err
}

// ListSortKeys returns the sort keys of all products by which stored lists are sorted. Publications use it.
func (r *Reader) ListSortKeys(ctx context.Context) (map[store.SortBy]Keys, error) {
	sorts := []store.SortBy{store.SortID, store.SortCreatedAt, store.SortUpdatedAt, store.SortName}
	read, err := chunksOfAll(ctx, r, ListKeys, sorts, index.UnpackKeys)
	keys := make(map[store.SortBy]Keys, len(sorts))
	for by, parts := range read {
		keys[by] = parts
	}
	return keys, err
}

// KeysAt returns the sort keys of the products at some ordinals.
func (r *Reader) KeysAt(ctx context.Context, by store.SortBy, ordinals []uint32) ([]int64, error) {
	return valuesAt(ctx, r, by, ordinals, index.UnpackKeys)
}

// KeyAt returns the sort key of one product.
func (r *Reader) KeyAt(ctx context.Context, by store.SortBy, ordinal int) (int64, error) {
	r.Reads.Add(AnyProduct)
	list := KeptList{r.Release.holder(ordinal), ListKeys, by}
	parts, err := readChunks(ctx, r, list, ordinal/ChunkSize, ordinal/ChunkSize, index.UnpackKeys)
	if err != nil {
		return 0, err
	}
	return parts[0][ordinal%ChunkSize], nil
}

// sparseKeys reads sort keys of all products, by ordinal, of which chunks without any are not stored. Products
// without one get absent. none is true if there is no chunk at all. A chunk that was deleted meanwhile looks like one that is
// not stored, so callers check afterwards that the release is still kept.
func (r *Reader) sparseKeys(ctx context.Context, by store.SortBy, absent int64) (keys []int64, none bool, err error) {
	keys = make([]int64, r.Release.Ordinals)
	for i := range keys {
		keys[i] = absent
	}
	of, args := r.InLayers(ListKeys, string(by), len(keys)/ChunkSize)
	chunks, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (number int, err error) {
		var body []byte
		err = rows.Scan(&number, &body)
		copy(keys[min(len(keys), number*ChunkSize):], index.UnpackKeys(body))
		return number, err
	}, `
		SELECT chunk, body FROM release_chunk
		WHERE release_id IN (`+of+`) AND list = $1 AND sort = $2 AND chunk BETWEEN 0 AND $3 ORDER BY chunk`, args...)
	return keys, len(chunks) == 0, err
}

// ByUpdate returns sorted ordinals in the order of the last update, the newest first, then by id. Within a layer that is
// the order of the ordinals, so it only merges the layers.
func (r *Reader) ByUpdate(ctx context.Context, sorted index.Ordinals) (index.Ordinals, error) {
	var layers []index.Ordinals
	for rest, below := sorted, r.Release.Layers(); len(rest) > 0; below = below[1:] {
		cut := sort.Search(len(rest), func(i int) bool { return int(rest[i]) >= below[0].End })
		if cut > 0 {
			layers, rest = append(layers, rest[:cut]), rest[cut:]
		}
	}
	if len(layers) < 2 {
		return sorted, nil
	}
	updated, err := r.AllKeys(ctx, store.SortUpdatedAt)
	if err != nil {
		return nil, err
	}
	ids, err := r.AllKeys(ctx, store.SortID)
	if err != nil {
		return nil, err
	}
	merged := layers[len(layers)-1]
	for _, below := range slices.Backward(layers[:len(layers)-1]) { // the small ones first
		own, all := merged, make(index.Ordinals, 0, len(sorted))
		for len(below) > 0 && len(own) > 0 {
			next := &below
			if u, b := updated.At(own[0]), updated.At(below[0]); u > b || u == b && ids.At(own[0]) < ids.At(below[0]) {
				next = &own
			}
			all, *next = append(all, (*next)[0]), (*next)[1:]
		}
		merged = append(append(all, below...), own...)
	}
	return merged, nil
}

// idRank is the sort key of a product by id.
type idRank int64

// Size is the memory in bytes.
func (idRank) Size() int { return 8 }

// IDRank returns the sort key of the first product whose id is operator, ">=" or ">", another; math.MaxInt64 if there is
// none. The product may be dead: its key is still in the order of the ids.
func (r *Reader) IDRank(ctx context.Context, operator, id string) (int64, error) {
	r.Reads.Add(AnyProduct)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedRank, Name: cachekey.New(operator, id)}
	if kept, ok := db.Cached[idRank](r.Cache, key); ok {
		return int64(kept), nil
	}
	found, err := r.readIDRank(ctx, operator, id)
	if err == nil {
		r.Cache.Set(key, idRank(found))
	}
	return found, err
}

// statementWork is the cost of one statement, in bytes of an Allowance.
const statementWork = 2 << 10

// readIDRank is IDRank without the cache, in a statement for each layer.
func (r *Reader) readIDRank(ctx context.Context, operator, id string) (int64, error) {
	type place struct {
		id      string
		ordinal int
	}
	first := place{ordinal: -1}
	for _, layer := range r.Release.LayerIDs() {
		if err := store.Charge(ctx, statementWork); err != nil {
			return 0, err
		}
		next, found, err := db.One(ctx, r.session(), func(rows *sql.Rows) (p place, err error) {
			return p, rows.Scan(&p.id, &p.ordinal)
		}, `
			SELECT product_id, ordinal FROM release_place
			WHERE release_id = $1 AND product_id `+operator+` $2 ORDER BY product_id LIMIT 1`, layer, id)
		if err != nil {
			return 0, err
		}
		if found && (first.ordinal < 0 || next.id < first.id) {
			first = next
		}
	}
	if first.ordinal < 0 {
		return math.MaxInt64, nil
	}
	return r.KeyAt(ctx, store.SortID, first.ordinal)
}
