package publish

import (
	"context"
	"maps"
	"slices"

	"portico/store/db"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// missingFile is the index of the files that products refer to and that there
// are not.
const missingFile = "missing_file"

// indexProduct notes what the product can be found by.
func (w *releaseWriter) indexProduct(product *builtProduct) {
	add := func(attribute string, values ...string) {
		for _, value := range values {
			if w.index[attribute] == nil {
				w.index[attribute] = &runs{name: attribute, width: index.EntrySize}
			}
			entry := index.NewEntry(value, uint32(product.ordinal))
			w.index[attribute].add(entry[:])
		}
	}
	add(missingFile, product.missing...)
	add(segment.ShownFile, slices.DeleteFunc(product.source.FileIDs(), func(id string) bool { return slices.Contains(product.missing, id) })...)
	for _, attribute := range release.Filterable {
		if attribute.Values == nil {
			continue
		}
		values := slices.DeleteFunc(attribute.Values(&product.source.Attributes), func(value string) bool { return value == "" })
		add(attribute.Name, values...)
		if attribute.Counted {
			w.facetOf(attribute.Name).add(values)
		}
	}
	w.words.add(uint32(product.ordinal), product.words)
	w.naming.Add(product.nameKey)
	w.prices.add(product.ordinal, product.offers, w.release.Ordinals)
}

// indexes writes the indexes of the attributes.
func (w *releaseWriter) indexes(ctx context.Context) error {
	for _, attribute := range slices.Sorted(maps.Keys(w.index)) {
		if err := w.indexOf(ctx, attribute); err != nil {
			return err
		}
		delete(w.index, attribute)
	}
	return nil
}

// indexOf writes the index of one attribute.
func (w *releaseWriter) indexOf(ctx context.Context, attribute string) error {
	var rows [][]any
	var body, directory []byte
	number := 0
	flush := func() error {
		err := w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			return t.InsertRows(ctx, "release_index", []string{"release_id", "attribute", "chunk", "body"}, rows)
		})
		rows = nil
		return err
	}
	end := func() {
		if len(body) > 0 {
			rows = append(rows, []any{w.release.ID, attribute, number, body})
			number, body = number+1, nil
		}
	}
	if err := w.index[attribute].each(ctx, w, func(entry []byte) error {
		if len(body) == 0 {
			body = make([]byte, 0, segment.IndexChunkSize*index.EntrySize)
			directory = append(directory, entry[:index.HashSize]...)
		}
		if body = append(body, entry...); len(body) < segment.IndexChunkSize*index.EntrySize {
			return nil
		}
		end()
		if len(rows) < 128 {
			return nil
		}
		return flush()
	}); err != nil {
		return err
	}
	end()
	rows = append(rows, []any{w.release.ID, attribute, segment.DirectoryChunk, directory})
	return flush()
}
