package publish

import (
	"context"
	"encoding/binary"

	"portico/store"
	"portico/store/db"
	"portico/store/release"
	"portico/store/release/segment"
)

// facetBuilder numbers the values of an attribute as they come, with the
// products in order.
type facetBuilder struct {
	numbers map[string]uint32
	values  []byte // as unpackTexts reads them
	chunks  [][]byte
	count   int // products
}

func (b *facetBuilder) add(values []string) {
	if b.count%segment.ChunkSize == 0 {
		b.chunks = append(b.chunks, nil)
	}
	b.count++
	last := &b.chunks[len(b.chunks)-1]
	*last = binary.AppendUvarint(*last, uint64(len(values)))
	for _, value := range values {
		number, known := b.numbers[value]
		if !known {
			number = uint32(len(b.numbers))
			b.numbers[value] = number
			b.values = segment.AppendText(b.values, value)
		}
		*last = binary.AppendUvarint(*last, uint64(number))
	}
}

// facets writes the attributes that products are counted by.
func (w *releaseWriter) facets(ctx context.Context) error {
	first := w.plan.first / segment.ChunkSize
	for _, attribute := range release.FacetAttributes() {
		b := w.facetOf(attribute)
		rows := [][]any{{w.release.ID, attribute, segment.DirectoryChunk, append([]byte{}, b.values...)}}
		for number, body := range b.chunks {
			rows = append(rows, []any{w.release.ID, attribute, first + number, body})
		}
		if err := store.Chunked(rows, 128, func(rows [][]any) error {
			return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
				return t.InsertRows(ctx, "release_facet", []string{"release_id", "attribute", "chunk", "body"}, rows)
			})
		}); err != nil {
			return err
		}
		delete(w.facet, attribute)
	}
	return nil
}

func (w *releaseWriter) facetOf(attribute string) *facetBuilder {
	if w.facet[attribute] == nil {
		w.facet[attribute] = &facetBuilder{numbers: map[string]uint32{}}
	}
	return w.facet[attribute]
}
