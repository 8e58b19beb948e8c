package publish

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// writeRelease writes the files, products, nodes, lists and indexes of a plan. same
// is whether the release shows the same as the served one.
func (s *PublishService) writeRelease(ctx context.Context, actor store.Actor, p *publicationPlan, release *segment.Release, progress PublishProgress) (same bool, err error) {
	w := &releaseWriter{service: s, actor: actor, plan: p, release: release, shared: map[[16]byte]int64{},
		added: &runs{name: "hash", width: hashRecord}, index: map[string]*runs{}, facet: map[string]*facetBuilder{}}
	for _, step := range []func(context.Context) error{
		w.readServed, w.readStored, w.files,
		func(ctx context.Context) error { return w.products(ctx, progress) },
		w.blocksEnd, w.wordsEnd, w.pricesEnd, w.facets, w.sortedNames, w.places, w.nodes, w.dead, w.lists, w.sortKeys, w.indexes, w.writeDocumentHashes, w.compare, w.findChanges,
	} {
		if err := step(ctx); err != nil {
			return false, fmt.Errorf("publish the catalog %s: %w", release.CatalogID, err)
		}
	}
	return w.changes.Empty(), nil
}

// budget is the memory for words, and again for all other indexes, in bytes.
func (w *releaseWriter) budget() int { return cmp.Or(w.service.wordBytes, defaultWordBytes) }

// spill writes index entries and hashes to runs once they exceed the budget.
func (w *releaseWriter) spill(ctx context.Context) error {
	all := append(slices.Collect(maps.Values(w.index)), w.added)
	size := 0
	for _, r := range all {
		size += len(r.pending)
	}
	if size <= w.budget() {
		return nil
	}
	for _, r := range all {
		if len(r.pending) > w.budget()/16 {
			if err := r.spill(ctx, w); err != nil {
				return err
			}
		}
	}
	return nil
}

// files writes every file, or for a delta those that were written since.
func (w *releaseWriter) files(ctx context.Context) error {
	if w.plan.delta != nil {
		return store.Chunked(w.plan.delta.changes["file"], 512, func(ids []string) error {
			list, args := db.InList(nil, ids)
			files, err := db.Collect(ctx, w.plan.in, scanReleasedFile, `SELECT id, body FROM file WHERE id IN (`+list+`) ORDER BY id`, args...)
			if err != nil {
				return err
			}
			return w.writeFiles(ctx, files)
		})
	}
	scan := func(rows *sql.Rows) ([]any, releasedFile, error) {
		f, err := scanReleasedFile(rows)
		return []any{f.id}, f, err
	}
	return db.EachPage(ctx, w.plan.in, "file", "id, body", []string{"id"}, scan, func(files []releasedFile) error {
		for _, f := range files {
			w.plan.files.Add(f.id)
		}
		return w.writeFiles(ctx, files)
	})
}

func (w *releaseWriter) writeFiles(ctx context.Context, files []releasedFile) error {
	if len(files) == 0 {
		return nil
	}
	return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
		bodies := make([][]byte, len(files))
		for i, f := range files {
			bodies[i] = f.body
		}
		ids, err := w.storeDocuments(ctx, t, bodies)
		if err != nil {
			return err
		}
		rows := make([][]any, len(files))
		for i, f := range files {
			rows[i] = []any{w.release.ID, f.id, ids[i]}
		}
		return t.InsertRows(ctx, "release_file", []string{"release_id", "file_id", "document_id"}, rows)
	})
}

// products writes documents, rows and prices while the next batch is built.
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
	defer func() { // wait for the builder, which reads the snapshot
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
		if err := w.batch(ctx, func(ctx context.Context, t *db.Tx) error { return w.productBatch(ctx, t, b.products) }); err != nil {
			return err
		}
		for _, product := range b.products {
			for _, document := range product.documents[1:] {
				locales[document.language] = true
			}
			w.shared[catalog.DocumentHash(product.crumbs)] = product.crumbsID
			w.versions = append(w.versions, product.version)
			w.indexProduct(product)
			w.addToBlock(product)
		}
		if err := w.writeBlocks(ctx, false); err != nil {
			return err
		}
		if err := w.writePrices(ctx); err != nil {
			return err
		}
		if w.words.size > w.budget() {
			if err := w.segment(ctx); err != nil {
				return err
			}
		}
		if err := w.spill(ctx); err != nil {
			return err
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

func (w *releaseWriter) productBatch(ctx context.Context, t *db.Tx, products []*builtProduct) error {
	var bodies [][]byte
	for _, product := range products {
		for _, document := range product.documents {
			bodies = append(bodies, document.body)
		}
		bodies = append(bodies, product.crumbs)
	}
	ids, err := w.storeDocuments(ctx, t, bodies)
	if err != nil {
		return err
	}
	rows := make([][]any, len(products))
	shown := make([][]any, len(products))
	var sales [][]any
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
		published := int64(0)
		if was := w.before[w.plan.order[product.ordinal-w.plan.first]]; was.version == product.version {
			published = was.published
		}
		rows[i] = []any{w.release.ID, product.ordinal, product.source.ID, documents.String(), crumbs, product.version, published}
		product.row = segment.ProductRowText(product.source.ID, documents.String(), crumbs, published, product.offers)
		shown[i] = []any{segment.RowID(w.release.ID, product.ordinal), product.row}
		for _, code := range slices.Sorted(maps.Keys(product.offers)) {
			o := product.offers[code]
			if len(o.Sales) > 0 {
				sales = append(sales, []any{w.release.ID, code, product.ordinal, o.PricebookID, string(store.Encode(o.Sales))})
			}
		}
	}
	if err := t.InsertRows(ctx, "release_product", []string{"release_id", "ordinal", "product_id", "documents", "crumbs", "version", "published_at"}, rows); err != nil {
		return err
	}
	if err := t.InsertRows(ctx, "release_row", []string{"id", "body"}, shown); err != nil {
		return err
	}
	return t.InsertRows(ctx, "release_sale", []string{"release_id", "currency", "ordinal", "pricebook_id", "sales"}, sales)
}

// versionOf returns a hash of what a release shows of a product.
func versionOf(documents string, crumbs int64, offers map[string]*catalog.Offer) int64 {
	text := make([]byte, 0, 256)
	text = append(append(text, documents...), ' ')
	text = append(strconv.AppendInt(text, crumbs, 10), ' ')
	sum := catalog.DocumentHash(catalog.AppendOffers(text, offers))
	return int64(binary.LittleEndian.Uint64(sum[:]))
}

// places writes the ordinal of each product, in the order of the ids. Written with
// the products, in another order, each row would touch another page.
func (w *releaseWriter) places(ctx context.Context) error {
	var rows [][]any
	flush := func() error {
		err := w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			return t.InsertRows(ctx, "release_place", []string{"release_id", "product_id", "ordinal"}, rows)
		})
		rows = rows[:0]
		return err
	}
	for handle, ordinal := range w.plan.ordinals {
		if int(ordinal) < w.plan.first {
			continue
		}
		rows = append(rows, []any{w.release.ID, w.plan.ids.At(uint32(handle)), ordinal})
		if len(rows) == sortedBatch {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func (w *releaseWriter) nodes(ctx context.Context) error {
	published, err := w.publishedNodes(ctx)
	if err != nil {
		return err
	}
	place := 0
	return store.Chunked(w.plan.tree.Nodes, publishBatch, func(nodes []*segment.CatalogNode) error {
		rows := make([][]any, len(nodes))
		for i, n := range nodes {
			rows[i] = []any{w.release.ID, place + i, n.ID, string(n.Kind), n.Name, n.Slug, n.Description, n.HierarchyID, n.ParentID, store.Micros(n.UpdatedAt), published[n.ID]}
		}
		place += len(nodes)
		return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
			return t.InsertRows(ctx, "release_node", []string{"release_id", "ordinal", "id", "kind", "name", "slug",
				"description", "hierarchy_id", "parent_id", "updated_at", "published_at"}, rows)
		})
	})
}

// publishedNodes returns since when the served release shows nodes as the new
// one does, in microseconds by id.
func (w *releaseWriter) publishedNodes(ctx context.Context) (map[string]int64, error) {
	if w.served == nil || w.served.Release.Locale != w.release.Locale {
		return nil, nil
	}
	before, err := w.served.Tree(ctx)
	if err != nil {
		return nil, err
	}
	published := map[string]int64{}
	for _, n := range w.plan.tree.Nodes {
		if was := before.ByID[n.ID]; was != nil && was.SameContent(n) {
			published[n.ID] = store.Micros(was.PublishedAt)
		}
	}
	return published, nil
}
