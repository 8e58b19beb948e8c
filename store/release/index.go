package release

import (
	"context"
	"database/sql"

	"portico/store"
	"portico/store/db"
	"portico/store/index"
)

// The chunks of an attribute's index are numbered from 0; under DirectoryChunk
// stand the hashes they begin with, so that any values are found in two
// statements.
const DirectoryChunk = -1

// indexChunks reads chunks of an attribute's index.
func (v *View) indexChunks(ctx context.Context, attribute string, numbers []int) (map[int]index.PackedHashes, error) {
	found := make(map[int]index.PackedHashes, len(numbers))
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedIndex, Name: attribute}
	var missing []int
	for _, key.Number = range numbers {
		if kept, ok := db.Cached[index.PackedHashes](v.Cache, key); ok {
			found[key.Number] = kept
		} else {
			missing = append(missing, key.Number)
		}
	}
	err := store.Chunked(missing, 1024, func(numbers []int) error {
		list, args := db.InList([]any{v.Release.ID, attribute}, numbers)
		_, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (body index.PackedHashes, err error) {
			err = rows.Scan(&key.Number, (*[]byte)(&body))
			found[key.Number] = body
			v.Cache.Set(key, body)
			return body, err
		}, `SELECT chunk, body FROM release_index WHERE release_id = $1 AND attribute = $2 AND chunk IN (`+list+`)`, args...)
		return err
	})
	return found, err
}

// Indexed returns the products of which the attribute has one of the values,
// in order.
func (v *View) Indexed(ctx context.Context, attribute string, values ...string) (index.Ordinals, error) {
	found, err := v.posting(ctx, attribute, values)
	if err != nil {
		return nil, err
	}
	dead, err := v.Dead(ctx)
	return subtract(found.List(v.Release.Ordinals), dead), err
}

// has tells which values some product of the release has in the attribute, in
// as many statements as for one value.
func (v *View) has(ctx context.Context, attribute string, values []string) (map[string]bool, error) {
	dead, err := v.Dead(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]bool, len(values))
	for _, layer := range []*View{v, v.base()} {
		if layer == nil {
			break
		}
		chunks, numbers, err := layer.indexOf(ctx, attribute, values)
		if err != nil {
			return nil, err
		}
		for _, value := range values {
			hash := index.Hash(value)
			for _, number := range numbers {
				places := index.Posting{Runs: []index.PackedHashes{chunks[number].Find(hash)}}.List(v.Release.Ordinals)
				found[value] = found[value] || len(places) > 0 && (layer == v || len(subtract(places, dead)) > 0)
			}
		}
	}
	return found, nil
}

// indexOf reads the chunks of the own layer that values stand in, and names
// them.
func (v *View) indexOf(ctx context.Context, attribute string, values []string) (map[int]index.PackedHashes, []int, error) {
	directories, err := v.indexChunks(ctx, attribute, []int{DirectoryChunk})
	if err != nil {
		return nil, nil, err
	}
	directory := directories[DirectoryChunk]
	var numbers []int
	for _, value := range values {
		hash := index.Hash(value)
		// The run of a hash begins in the last chunk that starts below it, and
		// goes on through the chunks that start at it.
		for n := max(0, directory.ChunksBefore(hash, false)-1); n < directory.ChunksBefore(hash, true); n++ {
			numbers = append(numbers, n)
		}
	}
	numbers = store.Unique(numbers)
	chunks, err := v.indexChunks(ctx, attribute, numbers)
	return chunks, numbers, err
}

// ShownFile is the index of the files that products show.
const ShownFile = "file"
