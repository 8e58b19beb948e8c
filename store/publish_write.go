package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// writeRelease writes what was planned: files, products, nodes, lists. The
// release is the same when it would show what the served one does.
func (s *Store) writeRelease(ctx context.Context, actor Actor, p *plan, release *Release, progress PublishProgress) (same bool, err error) {
	w := &releaseWriter{store: s, actor: actor, plan: p, release: release, shared: map[[16]byte]int64{},
		index: map[string][][indexEntry]byte{}, facet: map[string]*facetBuilder{}}
	for _, step := range []func(context.Context) error{
		w.files,
		func(ctx context.Context) error { return w.products(ctx, progress) },
		w.wordsEnd, w.pricesEnd, w.facets, w.sortedNames, w.places, w.nodes, w.dead, w.lists, w.sortKeys, w.indexes, w.hashes, w.compare,
	} {
		if err := step(ctx); err != nil {
			return false, fmt.Errorf("publish the catalog %s: %w", release.CatalogID, err)
		}
	}
	return w.showsTheSame(ctx)
}

type releaseWriter struct {
	store     *Store
	actor     Actor
	plan      *plan
	release   *Release
	served    *View              // what it was compared with; nil for the first of a catalog
	documents int64              // numbered so far
	added     []addedDocument    // documents that are new with this release
	fresh     []addedDocument    // those of the batch that is being written
	shared    map[[16]byte]int64 // breadcrumbs, the only documents that products far apart have in common
	index     map[string][][indexEntry]byte
	versions  []int64 // of the products, by ordinal
	words     wordIndex
	facet     map[string]*facetBuilder // by attribute
	prices    priceIndex
	naming    nameOrder
	nameKeys  []int64 // sort keys by handle, once all names are known
	idKeys    []int64 // likewise
}

type addedDocument struct {
	hash [16]byte
	id   int64
}

// batch writes in a transaction of its own, and shows that the build lives.
func (w *releaseWriter) batch(ctx context.Context, write func(context.Context, *tx) error) error {
	numbered := w.documents
	err := w.store.update(ctx, w.actor, func(ctx context.Context, t *tx) error {
		w.documents, w.fresh = numbered, w.fresh[:0]
		if err := t.bulk(ctx, w.store.dialect); err != nil {
			return err
		}
		n, err := t.exec(ctx, `UPDATE release SET touched_at = $2 WHERE id = $1 AND state = $3`, w.release.ID, micros(t.now), releaseBuilding)
		if err != nil {
			return err
		}
		if n == 0 {
			return errSwept
		}
		return write(ctx, t)
	})
	if err == nil {
		w.added = append(w.added, w.fresh...)
	}
	return err
}

// keep returns the ids under which documents are kept, storing those that are
// new.
func (w *releaseWriter) keep(ctx context.Context, t *tx, bodies [][]byte) ([]int64, error) {
	hashes := make([][16]byte, len(bodies))
	for i, body := range bodies {
		hashes[i] = documentHash(body)
	}
	known, err := w.known(ctx, t, hashes)
	if err != nil {
		return nil, err
	}
	var fresh [][]any
	for i, hash := range hashes {
		if _, ok := known[hash]; !ok {
			w.documents++
			known[hash] = w.release.ID<<documentBits | w.documents
			w.fresh = append(w.fresh, addedDocument{hash, known[hash]})
			fresh = append(fresh, []any{known[hash], slices.Clone(hash[:]), string(bodies[i])})
		}
	}
	if err := t.insertRows(ctx, "document", []string{"id", "hash", "body"}, fresh); err != nil {
		return nil, err
	}
	ids := make([]int64, len(hashes))
	for i, hash := range hashes {
		ids[i] = known[hash]
	}
	return ids, nil
}

// documentBits is how many documents a release can add: the rest of a
// document's id is the release that added it.
const documentBits = 32

func (w *releaseWriter) known(ctx context.Context, t *tx, hashes [][16]byte) (map[[16]byte]int64, error) {
	type document struct {
		id   int64
		hash []byte
	}
	known := make(map[[16]byte]int64, len(hashes))
	var others [][16]byte
	for _, hash := range unique(hashes) {
		if id, ok := w.shared[hash]; ok {
			known[hash] = id
		} else {
			others = append(others, hash)
		}
	}
	err := chunked(others, 512, func(hashes [][16]byte) error {
		values := make([]any, len(hashes))
		for i := range hashes {
			values[i] = hashes[i][:]
		}
		list, args := in(nil, values)
		found, err := collect(ctx, t.session, func(rows *sql.Rows) (d document, err error) {
			return d, rows.Scan(&d.id, &d.hash)
		}, `SELECT document_id, hash FROM document_hash WHERE hash IN (`+list+`)`, args...)
		for _, d := range found {
			known[[16]byte(d.hash)] = d.id
		}
		return err
	})
	return known, err
}

// releasedFile is a file as it was imported.
type releasedFile struct {
	id   string
	body []byte
}

func scanFile(rows *sql.Rows) (f releasedFile, err error) { return f, rows.Scan(&f.id, &f.body) }

// files freezes every file, or for a delta those that were written since.
func (w *releaseWriter) files(ctx context.Context) error {
	if w.plan.delta != nil {
		return chunked(w.plan.delta.changes["file"], 512, func(ids []string) error {
			list, args := in(nil, ids)
			files, err := collect(ctx, w.plan.in, scanFile, `SELECT id, body FROM file WHERE id IN (`+list+`) ORDER BY id`, args...)
			if err != nil {
				return err
			}
			return w.writeFiles(ctx, files)
		})
	}
	scan := func(rows *sql.Rows) ([]any, releasedFile, error) {
		f, err := scanFile(rows)
		return []any{f.id}, f, err
	}
	return pages(ctx, w.plan.in, "file", "id, body", []string{"id"}, scan, func(files []releasedFile) error {
		for _, f := range files {
			w.plan.files.add(f.id)
		}
		return w.writeFiles(ctx, files)
	})
}

func (w *releaseWriter) writeFiles(ctx context.Context, files []releasedFile) error {
	if len(files) == 0 {
		return nil
	}
	return w.batch(ctx, func(ctx context.Context, t *tx) error {
		bodies := make([][]byte, len(files))
		for i, f := range files {
			bodies[i] = f.body
		}
		ids, err := w.keep(ctx, t, bodies)
		if err != nil {
			return err
		}
		rows := make([][]any, len(files))
		for i, f := range files {
			rows[i] = []any{w.release.ID, f.id, ids[i]}
		}
		return t.insertRows(ctx, "release_file", []string{"release_id", "file_id", "document_id"}, rows)
	})
}

// products writes documents, places and prices, while the next batch is built.
func (w *releaseWriter) products(ctx context.Context, progress PublishProgress) error {
	total := len(w.plan.order)
	type batch struct {
		products []*builtProduct
		err      error
	}
	ctx, cancel := context.WithCancel(ctx)
	built := make(chan batch, 2)
	go func() {
		defer close(built)
		for start := 0; start < total; start += publishBatch {
			products, err := w.plan.build(ctx, w.release, start, min(total, start+publishBatch))
			select {
			case built <- batch{products, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	defer func() { // the builder reads the snapshot: it must be done with it
		cancel()
		for range built {
		}
	}()
	locales := map[string]bool{}
	done := 0
	for b := range built {
		if b.err != nil {
			return b.err
		}
		if err := w.batch(ctx, func(ctx context.Context, t *tx) error { return w.productBatch(ctx, t, b.products) }); err != nil {
			return err
		}
		for _, product := range b.products {
			for _, document := range product.documents[1:] {
				locales[document.language] = true
			}
			w.shared[documentHash(product.crumbs)] = product.crumbsID
			w.versions = append(w.versions, product.version)
			w.indexProduct(product)
		}
		if err := w.writePrices(ctx); err != nil {
			return err
		}
		if w.words.size > cmp.Or(w.store.config.WordBytes, defaultWordBytes) {
			if err := w.segment(ctx); err != nil {
				return err
			}
		}
		done += len(b.products)
		progress(done, total)
	}
	if done < total {
		return ctx.Err()
	}
	if d := w.plan.delta; d != nil {
		for _, language := range d.base.Locales {
			locales[language] = true
		}
	}
	w.release.Locales = slices.Sorted(maps.Keys(locales))
	return nil
}

func (w *releaseWriter) productBatch(ctx context.Context, t *tx, products []*builtProduct) error {
	var bodies [][]byte
	for _, product := range products {
		for _, document := range product.documents {
			bodies = append(bodies, document.body)
		}
		bodies = append(bodies, product.crumbs)
	}
	ids, err := w.keep(ctx, t, bodies)
	if err != nil {
		return err
	}
	rows := make([][]any, len(products))
	var prices, sales [][]any
	for i, product := range products {
		var documents strings.Builder
		fmt.Fprint(&documents, ids[0])
		for n, document := range product.documents[1:] {
			fmt.Fprintf(&documents, " %s=%d", document.language, ids[n+1])
		}
		crumbs := ids[len(product.documents)]
		ids = ids[len(product.documents)+1:]
		product.crumbsID = crumbs
		product.version = versionOf(documents.String(), crumbs, product.offers)
		rows[i] = []any{w.release.ID, product.ordinal, product.source.ID, documents.String(), crumbs, product.version}
		for _, code := range slices.Sorted(maps.Keys(product.offers)) {
			o := product.offers[code]
			if o.Base != nil {
				prices = append(prices, []any{w.release.ID, product.ordinal, code, o.PricebookID, o.Base.Minor, o.Base.IncludesTax, o.Base.keptTiers()})
			}
			if len(o.Sales) > 0 {
				sales = append(sales, []any{w.release.ID, code, product.ordinal, o.PricebookID, string(encode(o.Sales))})
			}
		}
	}
	if err := t.insertRows(ctx, "release_product", []string{"release_id", "ordinal", "product_id", "documents", "crumbs", "version"}, rows); err != nil {
		return err
	}
	if err := t.insertRows(ctx, "release_price", []string{"release_id", "ordinal", "currency", "pricebook_id", "amount", "includes_tax", "tiers"}, prices); err != nil {
		return err
	}
	return t.insertRows(ctx, "release_sale", []string{"release_id", "currency", "ordinal", "pricebook_id", "sales"}, sales)
}

// versionOf is a number for what a release shows of a product: the same for
// the same.
func versionOf(documents string, crumbs int64, offers map[string]*offer) int64 {
	sum := documentHash(fmt.Appendf(nil, "%s %d %s", documents, crumbs, encode(offers)))
	return int64(binary.LittleEndian.Uint64(sum[:]))
}

// missingFile is the index of the files that products refer to and that there
// are not.
const missingFile = "missing_file"

// shownFile is the index of the files that products show.
const shownFile = "file"

// indexProduct notes what the product can be found by.
func (w *releaseWriter) indexProduct(product *builtProduct) {
	a := &product.source.Attributes
	add := func(attribute string, values ...string) {
		for _, value := range values {
			if value != "" {
				w.index[attribute] = append(w.index[attribute], newEntry(value, uint32(product.ordinal)))
			}
		}
	}
	add("name", a.Name)
	add("sku", a.SKU)
	add("slug", a.Slug)
	add("manufacturer_part_num", a.ManufacturerPartNum)
	add("upc_ean", a.UPCEAN)
	add(missingFile, product.missing...)
	add(shownFile, slices.DeleteFunc(product.source.fileIDs(), func(id string) bool { return slices.Contains(product.missing, id) })...)
	for attribute, values := range map[string][]string{"tags": a.Tags, "product_types": a.ProductTypes} {
		values = slices.DeleteFunc(unique(values), func(value string) bool { return value == "" })
		add(attribute, values...)
		w.facetOf(attribute).add(values)
	}
	w.words.add(uint32(product.ordinal), product.words)
	w.naming.add(product.nameKey)
	w.prices.add(product.ordinal, product.offers, w.release.ordinals)
}

// sortedBatch is how many rows that come in the order of their key, and so
// next to each other, are written in one transaction.
const sortedBatch = 5000

// places writes where each product stands, in the order of the ids: entered
// one by one as products are written, they would touch a page each.
func (w *releaseWriter) places(ctx context.Context) error {
	var rows [][]any
	flush := func() error {
		err := w.batch(ctx, func(ctx context.Context, t *tx) error {
			return t.insertRows(ctx, "release_place", []string{"release_id", "product_id", "ordinal"}, rows)
		})
		rows = rows[:0]
		return err
	}
	for handle, ordinal := range w.plan.ordinals {
		if int(ordinal) < w.plan.first {
			continue
		}
		rows = append(rows, []any{w.release.ID, w.plan.ids.at(uint32(handle)), ordinal})
		if len(rows) == sortedBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// hashes lets later releases find the documents that are new with this one,
// in the order of the hashes, likewise. Another publication may have entered
// the same text meanwhile; then that one is shared from here on.
func (w *releaseWriter) hashes(ctx context.Context) error {
	slices.SortFunc(w.added, func(a, b addedDocument) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return chunked(w.added, sortedBatch, func(added []addedDocument) error {
		rows := make([][]any, len(added))
		for i := range added {
			rows[i] = []any{added[i].hash[:], added[i].id}
		}
		return w.batch(ctx, func(ctx context.Context, t *tx) error {
			return t.insertRowsBut(ctx, "document_hash", []string{"hash", "document_id"}, ` ON CONFLICT (hash) DO NOTHING`, rows)
		})
	})
}

func (w *releaseWriter) nodes(ctx context.Context) error {
	place := 0
	return chunked(w.plan.tree.nodes, publishBatch, func(nodes []*CatalogNode) error {
		rows := make([][]any, len(nodes))
		for i, n := range nodes {
			rows[i] = []any{w.release.ID, place + i, n.ID, string(n.Kind), n.Name, n.Slug, n.Description, n.HierarchyID, n.ParentID, micros(n.UpdatedAt)}
		}
		place += len(nodes)
		return w.batch(ctx, func(ctx context.Context, t *tx) error {
			return t.insertRows(ctx, "release_node", []string{"release_id", "ordinal", "id", "kind", "name", "slug",
				"description", "hierarchy_id", "parent_id", "updated_at"}, rows)
		})
	})
}

// indexes writes the indexes of the attributes.
func (w *releaseWriter) indexes(ctx context.Context) error {
	for _, attribute := range slices.Sorted(maps.Keys(w.index)) {
		entries := w.index[attribute]
		slices.SortFunc(entries, func(a, b [indexEntry]byte) int { return slices.Compare(a[:], b[:]) })
		var directory []byte
		var rows [][]any
		for chunk := range slices.Chunk(entries, indexChunkSize) {
			body := make([]byte, 0, len(chunk)*indexEntry)
			for _, entry := range chunk {
				body = append(body, entry[:]...)
			}
			rows = append(rows, []any{w.release.ID, attribute, len(rows), body})
			directory = append(directory, chunk[0][:indexHash]...)
		}
		rows = append(rows, []any{w.release.ID, attribute, directoryChunk, directory})
		if err := chunked(rows, 128, func(rows [][]any) error {
			return w.batch(ctx, func(ctx context.Context, t *tx) error {
				return t.insertRows(ctx, "release_index", []string{"release_id", "attribute", "chunk", "body"}, rows)
			})
		}); err != nil {
			return err
		}
		delete(w.index, attribute)
	}
	return nil
}
