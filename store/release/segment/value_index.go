package segment

import (
	"context"
	"database/sql"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// The chunks of an attribute's index are numbered from 0. DirectoryChunk holds
// the hashes that they begin with, so that two statements find any values.
const DirectoryChunk = -1

// ShownFile is the index of the files that products show.
const ShownFile = "file"

// ProductNames is the index of the index.NameKeys of products.
const ProductNames = "names"

// indexChunks returns chunks of an attribute's index in the own layer, by number. It leaves out chunks that are not stored: an
// attribute without values has not even a directory.
func (r *Reader) indexChunks(ctx context.Context, attribute string, numbers []int) (map[int]index.PackedHashes, error) {
	found := make(map[int]index.PackedHashes, len(numbers))
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedIndex, Name: cachekey.New(attribute)}
	var missing []int
	for _, key.Number = range numbers {
		if kept, ok := db.Cached[index.PackedHashes](r.Cache, key); ok {
			found[key.Number] = kept
		} else {
			missing = append(missing, key.Number)
		}
	}
	err := store.Chunked(missing, 1024, func(numbers []int) error {
		list, args := db.InList([]any{r.Release.ID, attribute}, numbers)
		_, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (body index.PackedHashes, err error) {
			err = rows.Scan(&key.Number, (*[]byte)(&body))
			found[key.Number] = body
			r.Cache.Set(key, body)
			return body, err
		}, `SELECT chunk, body FROM release_index WHERE release_id = $1 AND attribute = $2 AND chunk IN (`+list+`)`, args...)
		return err
	})
	return found, err
}

// indexOf reads the chunks of the own layer that may hold values, and returns
// their numbers.
func (r *Reader) indexOf(ctx context.Context, attribute string, values []string) (map[int]index.PackedHashes, []int, error) {
	directories, err := r.indexChunks(ctx, attribute, []int{DirectoryChunk})
	if err != nil {
		return nil, nil, err
	}
	directory := directories[DirectoryChunk]
	numbers := make([]int, 0, len(values))
	for _, value := range values {
		hash := index.Hash(value)
		// The run of a hash begins in the last chunk that starts below it, and
		// continues through the chunks that start at it.
		for n := max(0, directory.ChunksBefore(hash, false)-1); n < directory.ChunksBefore(hash, true); n++ {
			numbers = append(numbers, n)
		}
	}
	numbers = store.Unique(numbers)
	chunks, err := r.indexChunks(ctx, attribute, numbers)
	return chunks, numbers, err
}

// Indexed returns the products that have one of the values in an attribute, in
// order.
func (r *Reader) Indexed(ctx context.Context, attribute string, values ...string) (index.Ordinals, error) {
	found, err := r.posting(ctx, attribute, values)
	if err != nil {
		return nil, err
	}
	return r.Live(ctx, found.List(r.Release.Ordinals))
}

// Matching returns the products that a term keeps. For any attribute but the id they include dead products: callers
// intersect them with a list, which has none.
func (r *Reader) Matching(ctx context.Context, term store.Term) (index.Posting, error) {
	if term.Attribute == "id" {
		ordinals, err := r.OrdinalsByID(ctx, term.Values, nil)
		return index.Posting{Ordinals: Ordered(ordinals)}, err
	}
	return r.posting(ctx, term.Attribute, store.Unique(term.Values))
}

// posting finds values in the index of an attribute, in all layers, dead products too.
func (r *Reader) posting(ctx context.Context, attribute string, values []string) (p index.Posting, err error) {
	r.ReadValues(attribute, values)
	for _, layer := range r.layers() {
		chunks, numbers, err := layer.indexOf(ctx, attribute, values)
		if err != nil {
			return p, err
		}
		for _, value := range values {
			hash := index.Hash(value)
			for _, number := range numbers {
				if run := chunks[number].Find(hash); len(run) > 0 {
					p.Runs = append(p.Runs, run)
				}
			}
		}
	}
	return p, nil
}

// has returns which values some live product has in an attribute, in as many
// statements as for one value.
func (r *Reader) has(ctx context.Context, attribute string, values []string) (map[string]bool, error) {
	r.ReadValues(attribute, values)
	dead, err := r.Dead(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(values))
	for _, layer := range r.layers() {
		chunks, numbers, err := layer.indexOf(ctx, attribute, values)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			hash := index.Hash(value)
			for _, number := range numbers {
				ordinals := index.Posting{Runs: []index.PackedHashes{chunks[number].Find(hash)}}.List(r.Release.Ordinals)
				found[value] = found[value] || len(ordinals) > 0 && len(subtract(ordinals, dead)) > 0
			}
		}
	}
	return found, nil
}
