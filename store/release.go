package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"strings"
	"time"
)

// Release is a published state of a catalog. It never changes.
type Release struct {
	ID          int64
	CatalogID   string
	Locale      string   // of the base texts
	Locales     []string // the languages there are texts in, beside the base
	Products    int      // live products it holds, listed or not
	PublishedAt time.Time
}

func (r *Release) size() int { return 256 + 16*len(r.Locales) }

// The states of a release.
const (
	releaseBuilding  = "building"
	releasePublished = "published"
)

const releaseColumns = `id, catalog_id, locale, locales, products, published_at`

func scanRelease(rows *sql.Rows) (*Release, error) {
	r := &Release{}
	var locales string
	var published int64
	err := rows.Scan(&r.ID, &r.CatalogID, &r.Locale, &locales, &r.Products, &published)
	r.Locales, r.PublishedAt = strings.Fields(locales), fromMicros(published)
	return r, err
}

// release returns a release that is kept; NOT_FOUND when it is not, or not
// finished.
func (s *Store) release(ctx context.Context, id int64) (*Release, error) {
	key := cacheKey{release: id, kind: cachedRelease}
	if kept, ok := cached[*Release](s.cache, key); ok {
		return kept, nil
	}
	release, found, err := one(ctx, s.reader, scanRelease,
		`SELECT `+releaseColumns+` FROM release WHERE id = $1 AND state = '`+releasePublished+`'`, id)
	if err == nil && !found {
		return nil, notFound(nil, "There is no such release.")
	}
	if err == nil {
		s.cache.keep(key, release)
	}
	return release, err
}

// chunkSize is how many rows of a list, or of an attribute's index, are kept
// together.
const (
	chunkSize      = 4096
	indexChunkSize = 1024
)

// The lists of a release by name.
const listAll = "all" // every product attached to any of its nodes

func listOfNode(id string) string { return "node/" + id }

// keysOf is the list of all products' sort keys by ordinal.
const listKeys = "keys"

// listHead is what is known of a list without reading it.
type listHead struct {
	total   int
	curated []uint32 // ordinals that come first, in order
}

func (h *listHead) size() int { return 48 + 4*len(h.curated) }

// ordinals are places of products in a release: 0 is the product updated
// last, ties by id.
type ordinals []uint32

func (o ordinals) size() int { return 24 + 4*len(o) }

// keys are sort keys by ordinal: microseconds, or the rank of the id.
type keys []int64

func (k keys) size() int { return 24 + 8*len(k) }

func packOrdinals(list []uint32) []byte {
	body := make([]byte, 0, 4*len(list))
	for _, n := range list {
		body = binary.LittleEndian.AppendUint32(body, n)
	}
	return body
}

func unpackOrdinals(body []byte) ordinals {
	list := make(ordinals, len(body)/4)
	for i := range list {
		list[i] = binary.LittleEndian.Uint32(body[4*i:])
	}
	return list
}

func packKeys(list []int64) []byte {
	body := make([]byte, 0, 8*len(list))
	for _, n := range list {
		body = binary.LittleEndian.AppendUint64(body, uint64(n))
	}
	return body
}

func unpackKeys(body []byte) keys {
	list := make(keys, len(body)/8)
	for i := range list {
		list[i] = int64(binary.LittleEndian.Uint64(body[8*i:]))
	}
	return list
}

// listHead reads a list's head; NOT_FOUND when the release has none of that
// name.
func (v *View) listHead(ctx context.Context, list string) (*listHead, error) {
	key := cacheKey{release: v.Release.ID, kind: cachedList, name: list}
	if kept, ok := cached[*listHead](v.store.cache, key); ok {
		return kept, nil
	}
	head, found, err := one(ctx, v.store.reader, func(rows *sql.Rows) (*listHead, error) {
		h := &listHead{}
		var curated []byte
		err := rows.Scan(&h.total, &curated)
		h.curated = unpackOrdinals(curated)
		return h, err
	}, `SELECT total, curated FROM release_list WHERE release_id = $1 AND list = $2`, v.Release.ID, list)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, notFound(nil, "There is no such list in this catalog.")
	}
	v.store.cache.keep(key, head)
	return head, nil
}

// chunks reads the parts of a list that are numbered from first to last, in
// one statement.
func chunks[T sized](ctx context.Context, v *View, list string, sort SortBy, first, last int, unpack func([]byte) T) ([]T, error) {
	found := make([]T, last-first+1)
	var missing []int
	key := cacheKey{release: v.Release.ID, kind: cachedChunk, name: list, sort: sort}
	for n := first; n <= last; n++ {
		key.number = n
		kept, ok := cached[T](v.store.cache, key)
		if !ok {
			missing = append(missing, n)
		}
		found[n-first] = kept
	}
	if len(missing) == 0 {
		return found, nil
	}
	type chunk struct {
		number int
		body   []byte
	}
	read, err := collect(ctx, v.store.reader, func(rows *sql.Rows) (c chunk, err error) {
		return c, rows.Scan(&c.number, &c.body)
	}, `
		SELECT chunk, body FROM release_chunk
		WHERE release_id = $1 AND list = $2 AND sort = $3 AND chunk BETWEEN $4 AND $5
		ORDER BY chunk`, v.Release.ID, list, string(sort), missing[0], missing[len(missing)-1])
	for _, c := range read {
		part := unpack(c.body)
		found[c.number-first] = part
		key.number = c.number
		v.store.cache.keep(key, part)
	}
	return found, err
}
