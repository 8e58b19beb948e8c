package publish

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// facets writes the attributes that products can be counted by: a row with the values, and the chunks.
func (w *releaseWriter) facets(ctx context.Context) error {
	first := w.plan.first / segment.ChunkSize
	for _, attribute := range append(release.FacetAttributes(), segment.OptionValues, segment.AttributeValues) {
		b := w.facetOf(attribute)
		rows := [][]any{{w.release.ID, attribute, segment.DirectoryChunk, append([]byte{}, b.values...)}}
		for number, body := range b.chunks {
			rows = append(rows, []any{w.release.ID, attribute, first + number, body})
		}
		if err := w.put(ctx, "release_facet", rows...); err != nil {
			return err
		}
		delete(w.facet, attribute)
	}
	return nil
}

// facetOf returns the builder of an attribute.
func (w *releaseWriter) facetOf(attribute string) *facetBuilder {
	if w.facet[attribute] == nil {
		w.facet[attribute] = &facetBuilder{numbers: map[string]uint32{}}
	}
	return w.facet[attribute]
}

// indexProduct adds a product to all indexes.
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
	add(segment.ShownFile, product.fileIDs...)
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
	for attribute, values := range map[string][]string{segment.OptionValues: product.options, segment.AttributeValues: product.attributes.filterable} {
		add(attribute, values...)
		w.facetOf(attribute).add(values)
	}
	w.words.add(uint32(product.ordinal), product.words)
	for _, words := range product.words {
		add(segment.ProductNames, words.Letters, words.Stems)
	}
	w.naming.Add(product.nameKey)
	for currency, o := range product.offers {
		w.currencies[currency] = true
		if o.Base != nil {
			w.prices.add(segment.SortOfPrices(currency), product.ordinal, o.Base.Minor, w.release.Ordinals)
		}
	}
	for sort, order := range product.attributes.orders {
		w.orders.add(sort, product.ordinal, order, w.release.Ordinals)
	}
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

// indexOf writes the index of one attribute: chunks of entries, and a directory of the hash with which each begins.
func (w *releaseWriter) indexOf(ctx context.Context, attribute string) error {
	var body, directory []byte
	number := 0
	end := func() error {
		if len(body) == 0 {
			return nil
		}
		row := []any{w.release.ID, attribute, number, body}
		number, body = number+1, nil
		return w.put(ctx, "release_index", row)
	}
	if err := w.index[attribute].each(ctx, w, func(entry []byte) error {
		if len(body) == 0 {
			body = make([]byte, 0, segment.IndexChunkSize*index.EntrySize)
			directory = append(directory, entry[:index.HashSize]...)
		}
		if body = append(body, entry...); len(body) < segment.IndexChunkSize*index.EntrySize {
			return nil
		}
		return end()
	}); err != nil {
		return err
	}
	if err := end(); err != nil {
		return err
	}
	return w.put(ctx, "release_index", []any{w.release.ID, attribute, segment.DirectoryChunk, directory})
}

// writeSparse writes the complete chunks of prices and of attributes.
func (w *releaseWriter) writeSparse(ctx context.Context) error {
	parts := append(w.prices.complete, w.orders.complete...)
	w.prices.complete, w.orders.complete = nil, nil
	for _, part := range parts {
		if err := w.put(ctx, "release_chunk", []any{w.release.ID, segment.ListKeys, string(part.sort), part.number, index.PackKeys(part.keys)}); err != nil {
			return err
		}
	}
	return nil
}

// sparseEnd writes the chunks that writeSparse left, the last of each order.
func (w *releaseWriter) sparseEnd(ctx context.Context) error {
	for _, keys := range []*sparseKeys{&w.prices, &w.orders} {
		for _, sort := range slices.Sorted(maps.Keys(keys.parts)) {
			keys.finish(sort)
		}
	}
	return w.writeSparse(ctx)
}

// writeAttributes writes the declarations of attributes. Deltas have those of the base.
func (w *releaseWriter) writeAttributes(ctx context.Context) error {
	if w.plan.delta != nil {
		return nil
	}
	attributes := w.plan.attributes
	if attributes == nil {
		attributes = segment.Attributes{}
	}
	return w.put(ctx, "release_chunk", []any{w.release.ID, segment.ListAttributes, "", 0, store.Encode(attributes)})
}

// wordChunkSize is the approximate size of a chunk of words, in bytes.
const wordChunkSize = 16 << 10

// writeWords writes the collected words as a batch for each language, as segment.wordDirectory reads them, and begins the next
// batches. The row of a batch in the directory has a negative number.
func (w *releaseWriter) writeWords(ctx context.Context) error {
	for _, language := range slices.Sorted(maps.Keys(w.words.words)) {
		var rows [][]any
		var body []byte
		var starts []string
		first := w.words.chunks
		cut := func() {
			rows = append(rows, []any{w.release.ID, w.words.chunks, body})
			w.words.chunks, body = w.words.chunks+1, nil
		}
		var known []string
		var counts []uint32
		words := w.words.words[language]
		eachEntry(words, func(token string, list []byte) {
			if of := words[token]; of != nil && index.IsVocabularyWord(token) {
				known, counts = append(known, token), append(counts, of.count)
			}
			if len(body) == 0 {
				starts = append(starts, token)
			}
			body = segment.AppendText(body, token)
			body = segment.AppendText(body, string(list))
			if len(body) >= wordChunkSize {
				cut()
			}
		})
		if len(body) > 0 {
			cut()
		}
		directory := segment.AppendText(nil, language)
		directory = binary.AppendUvarint(directory, uint64(first))
		directory = binary.AppendUvarint(directory, uint64(w.words.chunks+1)) // the vocabulary
		for _, token := range starts {
			directory = segment.AppendText(directory, token)
		}
		body = index.PackVocabulary(cmp.Or(language, w.release.Locale), known, counts)
		cut()
		w.words.batches++
		rows = append(rows, []any{w.release.ID, -w.words.batches, directory})
		if err := w.put(ctx, "release_word", rows...); err != nil {
			return err
		}
	}
	w.words.words, w.words.size = nil, 0
	return nil
}

// wordsEnd writes the rest of the index, and last the row that says how many rows the directory has.
func (w *releaseWriter) wordsEnd(ctx context.Context) error {
	if err := w.writeWords(ctx); err != nil {
		return err
	}
	return w.put(ctx, "release_word", []any{w.release.ID, -w.words.batches - 1, binary.AppendUvarint(nil, uint64(w.words.batches+1))})
}

// addToBlock adds a product to its block, with the time since when the served release shows this version, if it does. It notes
// the product's version and that time.
func (w *releaseWriter) addToBlock(product *builtProduct) {
	if was := w.before[w.plan.order[product.ordinal-w.plan.first]]; was.Version == product.version {
		product.stored.PublishedAt = was.Published
	}
	w.versions, w.published = append(w.versions, product.version), append(w.published, product.stored.PublishedAt)
	w.blocks.add(product.node, product.stored)
	if w.blocks.size > w.budget()/4 { // so many nodes have open blocks that their products wait in too much memory
		w.blocks.packAll()
	}
}

// writeBlocks writes the blocks that are full.
func (w *releaseWriter) writeBlocks(ctx context.Context) error {
	blocks := w.blocks.ready
	w.blocks.ready = nil
	return w.put(ctx, "release_block", blocks...)
}

// blocksEnd writes the blocks and names that wait, and the slots, versions and times of the products by ordinal.
func (w *releaseWriter) blocksEnd(ctx context.Context) error {
	w.blocks.packAll()
	if err := w.writeBlocks(ctx); err != nil {
		return err
	}
	if err := w.namesEnd(ctx); err != nil {
		return err
	}
	first := w.plan.first / segment.ChunkSize
	rows := chunkRows(w.release.ID, segment.ListKeys, segment.SortSlot, first, w.blocks.slots, index.PackOrdinals)
	rows = append(rows, chunkRows(w.release.ID, segment.ListKeys, segment.SortVersion, first, w.versions, index.PackKeys)...)
	return w.put(ctx, "release_chunk", append(rows, chunkRows(w.release.ID, segment.ListKeys, segment.SortPublished, first, w.published, index.PackKeys)...)...)
}
