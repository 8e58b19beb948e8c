package segment

import (
	"context"
	"database/sql"
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

// KeptList is a list, and the release that holds its chunks.
type KeptList struct {
	heldBy int64
	name   string
}

func (r *Reader) chunkKey(list KeptList, sort store.SortBy, number int) db.CacheKey {
	return db.CacheKey{Release: r.Release.identityOf(list.heldBy), Kind: cachedChunk, Name: cachekey.New(list.name), Sort: store.Sort{By: sort}, Number: number}
}

// ChunksOf reads the chunks from first to last of several lists, in one
// statement for each release that holds some. Chunks that a list does not have
// are the zero value.
func ChunksOf[T db.Sized](ctx context.Context, r *Reader, lists []KeptList, sort store.SortBy, first, last int, unpack func([]byte) T) (map[KeptList][]T, error) {
	found := make(map[KeptList][]T, len(lists))
	missing := map[int64][]string{} // by release
	low, high := last, first
	for _, list := range lists {
		found[list] = make([]T, last-first+1)
		for n := first; n <= last; n++ {
			kept, ok := db.Cached[T](r.Cache, r.chunkKey(list, sort, n))
			if !ok {
				missing[list.heldBy] = append(missing[list.heldBy], list.name)
				low, high = min(low, n), max(high, n)
			}
			found[list][n-first] = kept
		}
	}
	type chunk struct {
		list   string
		number int
		body   []byte
	}
	for release, names := range missing {
		if err := store.Chunked(store.Unique(names), 512, func(names []string) error {
			places, args := db.InList([]any{release, string(sort), low, high}, names)
			read, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (c chunk, err error) {
				return c, rows.Scan(&c.list, &c.number, &c.body)
			}, `
				SELECT list, chunk, body FROM release_chunk
				WHERE release_id = $1 AND sort = $2 AND chunk BETWEEN $3 AND $4 AND list IN (`+places+`)`, args...)
			for _, c := range read {
				list := KeptList{release, c.list}
				part := unpack(c.body)
				found[list][c.number-first] = part
				r.Cache.Set(r.chunkKey(list, sort, c.number), part)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// readChunks reads the chunks from first to last of one list. ErrGone when one
// is missing.
func readChunks[T db.Sized](ctx context.Context, r *Reader, list KeptList, sort store.SortBy, first, last int, unpack func([]byte) T) ([]T, error) {
	found, err := ChunksOf(ctx, r, []KeptList{list}, sort, first, last, unpack)
	if err == nil && slices.ContainsFunc(found[list], func(part T) bool { return part.Size() <= index.EmptyChunk }) {
		err = ErrGone
	}
	return found[list], err
}

// valuesAt returns the values of the chunks of ListKeys in one order at some ordinals, in one statement
// if not all are cached. ErrGone when one is missing.
func valuesAt[V uint32 | int64, L interface {
	~[]V
	db.Sized
}](ctx context.Context, r *Reader, sort store.SortBy, places []uint32, unpack func([]byte) L) ([]V, error) {
	chunks, missing := map[int]L{}, []int(nil)
	key := func(number int) db.CacheKey {
		return r.chunkKey(KeptList{r.Release.holder(number * ChunkSize), ListKeys}, sort, number)
	}
	for _, place := range places {
		number := int(place) / ChunkSize
		if _, known := chunks[number]; known {
			continue
		}
		cached, ok := db.Cached[L](r.Cache, key(number))
		if chunks[number] = cached; !ok {
			missing = append(missing, number)
		}
	}
	if err := store.Chunked(missing, 512, func(numbers []int) error {
		// With the bounds, PostgreSQL reads only the chunks, whatever its statistics say.
		list, args := db.InList(append(r.Layers(), ListKeys, string(sort), slices.Min(numbers), slices.Max(numbers)), numbers)
		_, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (number int, err error) {
			var body sql.RawBytes
			err = rows.Scan(&number, &body)
			chunks[number] = unpack(body)
			r.Cache.Set(key(number), chunks[number])
			return number, err
		}, `
			SELECT chunk, body FROM release_chunk
			WHERE release_id IN ($1, $2) AND list = $3 AND sort = $4 AND chunk BETWEEN $5 AND $6 AND chunk IN (`+list+`)`, args...)
		return err
	}); err != nil {
		return nil, err
	}
	values := make([]V, len(places))
	for i, place := range places {
		chunk := chunks[int(place)/ChunkSize]
		if int(place)%ChunkSize >= len(chunk) {
			return nil, ErrGone
		}
		values[i] = chunk[int(place)%ChunkSize]
	}
	return values, nil
}
