package segment

import (
	"context"
	"database/sql"
	"encoding/binary"

	"portico/store/db"
	"portico/store/index"
)

// Facet holds the values of one attribute for all products of a layer.
type Facet struct {
	first   uint32 // ordinal of the layer
	values  []string
	numbers index.AdjacencyList // of the values that each product has
}

func (f *Facet) Size() int {
	n := 64 + 4*len(f.numbers.Items) + 4*len(f.numbers.Ends)
	for _, value := range f.values {
		n += 16 + len(value)
	}
	return n
}

// Values returns the number of different values.
func (f *Facet) Values() int { return len(f.values) }

// Count adds, by value, the number of products of the layer among places.
func (f *Facet) Count(places index.Ordinals, counts map[string]int) {
	own := make([]int, len(f.values))
	for _, place := range places {
		if place >= f.first {
			for _, number := range f.numbers.Of(place - f.first) {
				own[number]++
			}
		}
	}
	for number, n := range own {
		if n > 0 {
			counts[f.values[number]] += n
		}
	}
}

// Facets reads an attribute of all products, layer by layer.
func (r *Reader) Facets(ctx context.Context, attribute string) (facets []*Facet, err error) {
	r.Reads.Add(AnyProduct)
	for _, layer := range r.layers() {
		f, err := layer.facet(ctx, attribute)
		if err != nil {
			return nil, err
		}
		facets = append(facets, f)
	}
	return facets, nil
}

// facet reads an attribute in the own layer.
func (r *Reader) facet(ctx context.Context, attribute string) (*Facet, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedFacet, Name: attribute}
	if kept, ok := db.Cached[*Facet](r.Cache, key); ok {
		return kept, nil
	}
	f := &Facet{first: uint32(r.Release.FirstOrdinal)}
	chunks, err := db.Collect(ctx, r.session(), func(rows *sql.Rows) (number int, err error) {
		var body []byte
		if err := rows.Scan(&number, &body); err != nil {
			return 0, err
		}
		if number == DirectoryChunk {
			*f = Facet{first: f.first, values: unpackTexts(body)} // the first row, also of a second attempt
		} else {
			f.unpack(body)
		}
		return number, nil
	}, `SELECT chunk, body FROM release_facet WHERE release_id = $1 AND attribute = $2 ORDER BY chunk`, r.Release.ID, attribute)
	if err != nil {
		return nil, err
	}
	if len(chunks) < 1+(r.Release.Ordinals-r.Release.FirstOrdinal+ChunkSize-1)/ChunkSize {
		return nil, r.missing(ctx, "facets")
	}
	r.Cache.Set(key, f)
	return f, nil
}

// unpack appends the values of a chunk's products.
func (f *Facet) unpack(body []byte) {
	for len(body) > 0 {
		n, at := binary.Uvarint(body)
		for body = body[at:]; n > 0; n-- {
			number, at := binary.Uvarint(body)
			body = body[at:]
			f.numbers.Add(uint32(number))
		}
		f.numbers.End()
	}
}

func unpackTexts(body []byte) (texts []string) {
	for len(body) > 0 {
		var text []byte
		text, body = cutText(body)
		texts = append(texts, string(text))
	}
	return texts
}
