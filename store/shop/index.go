package shop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"sort"

	"portico/store"
)

// An attribute's index is kept as chunks of entries that are sorted: the
// first 12 bytes of the value's SHA-256, and the ordinal of a product that has
// the value. At 96 bits two values of one shop do not share a hash; a million
// entries take 16 MB, where rows with the values themselves took 130.
const (
	indexHash  = 12
	indexEntry = indexHash + 4
)

func hashValue(value string) [indexHash]byte {
	sum := sha256.Sum256([]byte(value))
	return [indexHash]byte(sum[:indexHash])
}

// newEntry makes an index entry that sorts by hash, then ordinal.
func newEntry(value string, ordinal uint32) (entry [indexEntry]byte) {
	hash := hashValue(value)
	copy(entry[:], hash[:])
	binary.BigEndian.PutUint32(entry[indexHash:], ordinal)
	return entry
}

// The chunks of an attribute's index are numbered from 0; under directoryChunk
// stand the hashes they begin with, so that any values are found in two
// statements.
const directoryChunk = -1

// packedHashes is a directory, or a chunk as it is kept.
type packedHashes []byte

func (p packedHashes) Size() int { return 24 + len(p) }

// starts is how many chunks of a directory begin below a hash, or at it too.
func (p packedHashes) starts(hash [indexHash]byte, orAt bool) int {
	return sort.Search(len(p)/indexHash, func(i int) bool {
		order := bytes.Compare(p[i*indexHash:(i+1)*indexHash], hash[:])
		return order > 0 || order == 0 && !orAt
	})
}

// indexChunks reads chunks of an attribute's index.
func (v *View) indexChunks(ctx context.Context, attribute string, numbers []int) (map[int]packedHashes, error) {
	found := make(map[int]packedHashes, len(numbers))
	key := cacheKey{release: v.Release.identity(), kind: cachedIndex, name: attribute}
	var missing []int
	for _, key.number = range numbers {
		if kept, ok := cached[packedHashes](v.cache, key); ok {
			found[key.number] = kept
		} else {
			missing = append(missing, key.number)
		}
	}
	err := store.Chunked(missing, 1024, func(numbers []int) error {
		list, args := in([]any{v.Release.ID, attribute}, numbers)
		_, err := collect(ctx, v.store.reader, func(rows *sql.Rows) (body packedHashes, err error) {
			err = rows.Scan(&key.number, (*[]byte)(&body))
			found[key.number] = body
			v.cache.keep(key, body)
			return body, err
		}, `SELECT chunk, body FROM release_index WHERE release_id = $1 AND attribute = $2 AND chunk IN (`+list+`)`, args...)
		return err
	})
	return found, err
}

// indexed returns the products of which the attribute has one of the values,
// in order.
func (v *View) indexed(ctx context.Context, attribute string, values ...string) (ordinals, error) {
	found, err := v.posting(ctx, attribute, values)
	if err != nil {
		return nil, err
	}
	dead, err := v.dead(ctx)
	return found.ordinals(v.Release.ordinals).without(dead), err
}

// has tells which values some product of the release has in the attribute, in
// as many statements as for one value.
func (v *View) has(ctx context.Context, attribute string, values []string) (map[string]bool, error) {
	dead, err := v.dead(ctx)
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
			hash := hashValue(value)
			for _, number := range numbers {
				places := posting{runs: []packedHashes{chunks[number].find(hash)}}.ordinals(v.Release.ordinals)
				found[value] = found[value] || len(places) > 0 && (layer == v || len(places.without(dead)) > 0)
			}
		}
	}
	return found, nil
}

// indexOf reads the chunks of the own layer that values stand in, and names
// them.
func (v *View) indexOf(ctx context.Context, attribute string, values []string) (map[int]packedHashes, []int, error) {
	directories, err := v.indexChunks(ctx, attribute, []int{directoryChunk})
	if err != nil {
		return nil, nil, err
	}
	directory := directories[directoryChunk]
	var numbers []int
	for _, value := range values {
		hash := hashValue(value)
		// The run of a hash begins in the last chunk that starts below it, and
		// goes on through the chunks that start at it.
		for n := max(0, directory.starts(hash, false)-1); n < directory.starts(hash, true); n++ {
			numbers = append(numbers, n)
		}
	}
	numbers = store.Unique(numbers)
	chunks, err := v.indexChunks(ctx, attribute, numbers)
	return chunks, numbers, err
}

// find returns the entries under a hash in a chunk.
func (p packedHashes) find(hash [indexHash]byte) packedHashes {
	at := p.search(func(entry []byte) bool { return bytes.Compare(entry[:indexHash], hash[:]) >= 0 })
	rest := p[at*indexEntry:]
	return rest[:indexEntry*rest.search(func(entry []byte) bool { return !bytes.Equal(entry[:indexHash], hash[:]) })]
}

// search is the first entry from which on a condition holds.
func (p packedHashes) search(holds func(entry []byte) bool) int {
	return sort.Search(len(p)/indexEntry, func(i int) bool { return holds(p[i*indexEntry : (i+1)*indexEntry]) })
}

// place is the product of an entry.
func (p packedHashes) place(i int) uint32 {
	return binary.BigEndian.Uint32(p[i*indexEntry+indexHash:])
}
