package segment

import (
	"context"
	"database/sql"
	"math"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// Rows in one chunk of a list, and entries in one chunk of an attribute's index.
const (
	ChunkSize      = 4096
	IndexChunkSize = 1024
)

// KeptList is a list in one order, and the layer that holds its chunks.
type KeptList struct {
	heldBy int64
	name   string
	sort   store.SortBy
}

func (r *Reader) chunkKey(list KeptList, number int) db.CacheKey {
	return db.CacheKey{Release: r.Release.identityOf(list.heldBy), Kind: cachedChunk, Name: cachekey.New(list.name), Sort: store.Sort{By: list.sort}, Number: number}
}

// ChunkRange is the chunks of a list from First to Last, both inclusive.
type ChunkRange struct {
	KeptList
	First, Last int
}

// ChunksOf returns chunks of several lists, by list, from the first of its range on. Those that are not cached are read in one
// statement for each 512 lists, and cached. Chunks that a list does not have are the zero value. To stay one statement, it
// reads the chunks of all lists between the lowest and the highest missing number, and drops what nobody wants.
func ChunksOf[T db.Sized](ctx context.Context, r *Reader, ranges []ChunkRange, unpack func([]byte) T) (map[KeptList][]T, error) {
	found, first := make(map[KeptList][]T, len(ranges)), make(map[KeptList]int, len(ranges))
	var missing []KeptList
	low, high := math.MaxInt32, 0
	for _, list := range ranges {
		parts, complete := make([]T, list.Last-list.First+1), true
		for i := range parts {
			var ok bool
			if parts[i], ok = db.Cached[T](r.Cache, r.chunkKey(list.KeptList, list.First+i)); !ok {
				complete, low, high = false, min(low, list.First+i), max(high, list.First+i)
			}
		}
		if found[list.KeptList], first[list.KeptList] = parts, list.First; !complete {
			missing = append(missing, list.KeptList)
		}
	}
	type chunk struct {
		list   KeptList
		number int
		body   []byte
	}
	return found, store.Chunked(store.Unique(missing), 512, func(lists []KeptList) error {
		var holders []int64
		var names, sorts []string
		for _, list := range lists {
			holders, names, sorts = append(holders, list.heldBy), append(names, list.name), append(sorts, string(list.sort))
		}
		of, args := db.InList([]any{low, high}, store.Unique(holders))
		by, args := db.InList(args, store.Unique(sorts))
		places, args := db.InList(args, store.Unique(names))
		read, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (c chunk, err error) {
			return c, rows.Scan(&c.list.heldBy, &c.list.name, &c.list.sort, &c.number, &c.body)
		}, `
			SELECT release_id, list, sort, chunk, body FROM release_chunk
			WHERE release_id IN (`+of+`) AND sort IN (`+by+`) AND chunk BETWEEN $1 AND $2 AND list IN (`+places+`)`, args...)
		for _, c := range read {
			if at := c.number - first[c.list]; at >= 0 && at < len(found[c.list]) {
				part := unpack(c.body)
				found[c.list][at] = part
				r.Cache.Set(r.chunkKey(c.list, c.number), part)
			}
		}
		return err
	})
}

// readChunks reads the chunks from first to last of one list. ErrGone when one
// is missing: it is the zero value, of the Size of an empty chunk.
func readChunks[T db.Sized](ctx context.Context, r *Reader, list KeptList, first, last int, unpack func([]byte) T) ([]T, error) {
	found, err := ChunksOf(ctx, r, []ChunkRange{{list, first, last}}, unpack)
	if err == nil && slices.ContainsFunc(found[list], func(part T) bool { return part.Size() <= index.EmptyChunk }) {
		err = ErrGone
	}
	return found[list], err
}

// chunksOfAll reads all chunks of a list that has something of each product, by ordinal, in some orders. It takes one
// statement if not all are cached. ErrGone when one is missing.
func chunksOfAll[T db.Sized](ctx context.Context, r *Reader, name string, sorts []store.SortBy, unpack func([]byte) T) (map[store.SortBy][]T, error) {
	var ranges []ChunkRange
	for _, sort := range sorts {
		for _, layer := range r.Release.Layers() {
			if layer.First < layer.End {
				ranges = append(ranges, ChunkRange{KeptList{layer.ID, name, sort}, layer.First / ChunkSize, (layer.End - 1) / ChunkSize})
			}
		}
	}
	found, err := ChunksOf(ctx, r, ranges, unpack)
	if err != nil {
		return nil, err
	}
	all := make(map[store.SortBy][]T, len(sorts))
	for _, list := range ranges {
		parts := found[list.KeptList]
		if slices.ContainsFunc(parts, func(part T) bool { return part.Size() <= index.EmptyChunk }) {
			return nil, ErrGone
		}
		all[list.sort] = append(all[list.sort], parts...)
	}
	return all, nil
}

// valuesAt returns the values of the chunks of ListKeys in one order at some ordinals, in one statement
// if not all are cached. ErrGone when one is missing.
func valuesAt[V uint32 | int64, L interface {
	~[]V
	db.Sized
}](ctx context.Context, r *Reader, sort store.SortBy, ordinals []uint32, unpack func([]byte) L) ([]V, error) {
	chunks, missing := map[int]L{}, []int(nil)
	key := func(number int) db.CacheKey {
		return r.chunkKey(KeptList{r.Release.holder(number * ChunkSize), ListKeys, sort}, number)
	}
	for _, ordinal := range ordinals {
		number := int(ordinal) / ChunkSize
		if _, known := chunks[number]; known {
			continue
		}
		cached, ok := db.Cached[L](r.Cache, key(number))
		chunks[number] = cached // nil until it is read
		if !ok {
			missing = append(missing, number)
		}
	}
	if err := store.Chunked(missing, 512, func(numbers []int) error {
		// With the bounds, PostgreSQL reads only the chunks, whatever its statistics say.
		of, args := r.InLayers(ListKeys, string(sort), slices.Min(numbers), slices.Max(numbers))
		list, args := db.InList(args, numbers)
		_, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (number int, err error) {
			var body sql.RawBytes
			err = rows.Scan(&number, &body)
			chunks[number] = unpack(body)
			r.Cache.Set(key(number), chunks[number])
			return number, err
		}, `
			SELECT chunk, body FROM release_chunk
			WHERE release_id IN (`+of+`) AND list = $1 AND sort = $2 AND chunk BETWEEN $3 AND $4 AND chunk IN (`+list+`)`, args...)
		return err
	}); err != nil {
		return nil, err
	}
	values := make([]V, len(ordinals))
	for i, ordinal := range ordinals {
		chunk := chunks[int(ordinal)/ChunkSize]
		if int(ordinal)%ChunkSize >= len(chunk) {
			return nil, ErrGone
		}
		values[i] = chunk[int(ordinal)%ChunkSize]
	}
	return values, nil
}
