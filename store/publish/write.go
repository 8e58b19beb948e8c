package publish

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// newReleaseWriter returns the writer of a plan.
func newReleaseWriter(s *Service, actor store.Actor, p *publicationPlan, release *segment.Release) *releaseWriter {
	w := &releaseWriter{service: s, actor: actor, plan: p, release: release, blocks: blockBuilder{release: release.ID},
		index: map[string]*runs{}, facet: map[string]*facetBuilder{},
		prices: sparseKeys{absent: segment.Unpriced}, currencies: map[string]bool{}, orders: sparseKeys{absent: catalog.NoOrder}}
	w.compared = &compare.Comparison{Now: &madeSide{w}}
	w.paths.turn = release.ID
	return w
}

// writeAuthored writes what it reads from authored data: the files and products of the plan.
func (w *releaseWriter) writeAuthored(ctx context.Context, progress Progress) error {
	return w.steps(ctx, w.readServed, w.files, func(ctx context.Context) error { return w.products(ctx, progress) })
}

// writeDerived writes the rest: nodes, lists and indexes, and what changed since the served release. It
// reads only releases, which never change, so the snapshot of the plan may have ended. The sort keys of names are needed for
// lists, compare is needed for lists and changes, and changes are found last.
func (w *releaseWriter) writeDerived(ctx context.Context) error {
	w.plan.in = w.service.db.Reader
	return w.steps(ctx, w.blocksEnd, w.wordsEnd, w.sparseEnd, w.writeAttributes, w.writeSynonyms, w.writeRedirects, w.facets, w.sortedNames, w.writeOrdinals, w.nodes, w.dead, w.families, w.ids,
		w.compare, w.lists, w.sortKeys, w.indexes, w.flushWhole, w.findChanges, w.flush)
}

// steps runs steps until one fails.
func (w *releaseWriter) steps(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return fmt.Errorf("publish the catalog %s: %w", w.release.CatalogID, err)
		}
	}
	return nil
}

// budget is the memory for words, and again for all other indexes, in bytes.
func (w *releaseWriter) budget() int { return cmp.Or(w.service.wordBytes, defaultWordBytes) }

// spill writes index entries to runs once they exceed the budget. It spares attributes with few entries, whose runs would be
// many and small.
func (w *releaseWriter) spill(ctx context.Context) error {
	all := slices.Collect(maps.Values(w.index))
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
		if err := w.writeFiles(ctx, files); err != nil {
			return err
		}
		return w.plan.renew(ctx)
	})
}

// writeFiles writes files, and keeps those of a delta in ownFiles.
func (w *releaseWriter) writeFiles(ctx context.Context, files []releasedFile) error {
	if len(files) == 0 {
		return nil
	}
	rows := make([][]any, len(files))
	for i, f := range files {
		rows[i] = []any{w.release.ID, f.id, string(f.body)}
	}
	if w.plan.delta != nil {
		if w.ownFiles == nil {
			w.ownFiles = map[string]string{}
		}
		for _, f := range files {
			w.ownFiles[f.id] = string(f.body)
		}
	}
	return w.put(ctx, "release_file", rows...)
}

// products writes blocks, sales and prices, and collects words and indexes, while the next batch is built. It calls progress
// after each batch, and sets the release's languages in the end.
func (w *releaseWriter) products(ctx context.Context, progress Progress) error {
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
			products, err := w.plan.build(ctx, w.release, w.plan.order[start:min(total, start+publishBatch)])
			if err == nil {
				err = w.plan.renew(ctx)
			}
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
	translated := map[string]int{}
	done := 0
	for b := range built {
		if b.err != nil {
			return b.err
		}
		for _, product := range b.products {
			for language := range product.stored.Documents {
				translated[language]++
			}
			w.indexProduct(product)
			w.addFamily(product)
			if err := w.addProduct(ctx, product); err != nil {
				return err
			}
		}
		if err := w.writeBlocks(ctx); err != nil {
			return err
		}
		if err := w.writeSparse(ctx); err != nil {
			return err
		}
		if w.words.size > w.budget() {
			if err := w.writeWords(ctx); err != nil {
				return err
			}
		}
		if err := w.spill(ctx); err != nil {
			return err
		}
		if done += len(b.products); done < total { // marks the build as alive
			if err := w.flush(ctx); err != nil {
				return err
			}
		}
		progress(done, total)
	}
	if done < total {
		return ctx.Err()
	}
	return w.setLocales(ctx, translated)
}

// setLocales sets the languages of the release, given how many of its own products have texts in each: those plus what the parent
// of a delta has, minus what is dead in it. Nodes add languages that no product has.
func (w *releaseWriter) setLocales(ctx context.Context, translated map[string]int) error {
	if d := w.plan.delta; d != nil && len(d.parent.Translated) > 0 {
		for language, n := range d.parent.Translated {
			translated[language] += n
		}
		if err := store.Chunked(d.dead, compare.AtOnce, func(ordinals []uint32) error {
			products, err := d.view.Translations(ctx, ordinals)
			for _, documents := range products {
				for _, document := range documents[min(1, len(documents)):] { // the first is in the base language
					translated[document.Language]--
				}
			}
			return err
		}); err != nil {
			return err
		}
	}
	maps.DeleteFunc(translated, func(language string, n int) bool { return language == "" || n == 0 }) // "" is the base language
	locales := map[string]bool{}
	for language := range translated {
		locales[language] = true
	}
	for _, node := range w.plan.tree.Nodes {
		for language := range node.Texts {
			locales[language] = true
		}
	}
	w.release.Translated, w.release.Locales = translated, slices.Sorted(maps.Keys(locales))
	return nil
}

// addProduct adds a product to its block, and writes its sales. Its name is written with the next full chunk. For a delta it
// notes what the product is found by.
func (w *releaseWriter) addProduct(ctx context.Context, product *builtProduct) error {
	w.addToBlock(product)
	if w.plan.delta != nil {
		if w.found == nil {
			w.found = map[string]compare.FoundBy{}
		}
		w.found[product.source.ID] = compare.FoundBy{SKU: product.source.Attributes.SKU, Slug: product.source.Attributes.Slug}
	}
	for _, code := range slices.Sorted(maps.Keys(product.offers)) {
		if o := product.offers[code]; len(o.Sales) > 0 {
			if err := w.put(ctx, "release_sale", []any{w.release.ID, code, product.ordinal, o.PricebookID, string(store.Encode(o.Sales))}); err != nil {
				return err
			}
		}
	}
	if w.names = append(w.names, product.source.Attributes.Name); len(w.names) < segment.ChunkSize {
		return nil
	}
	return w.namesEnd(ctx)
}

// namesEnd writes the names that wait as a chunk, that of the product that was added last.
func (w *releaseWriter) namesEnd(ctx context.Context) error {
	if len(w.names) == 0 {
		return nil
	}
	number := (w.plan.first + len(w.versions) - 1) / segment.ChunkSize
	row := []any{w.release.ID, segment.ListNames, "", number, segment.PackTexts(w.names)}
	w.names = w.names[:0]
	return w.put(ctx, "release_chunk", row)
}

// writeOrdinals writes the ordinal of each product, in the order of the ids. Written with
// the products, in another order, each row would touch another page.
func (w *releaseWriter) writeOrdinals(ctx context.Context) error {
	for handle, ordinal := range w.plan.ordinals {
		if int(ordinal) < w.plan.first {
			continue
		}
		if err := w.put(ctx, "release_place", []any{w.release.ID, w.plan.ids.At(uint32(handle)), ordinal}); err != nil {
			return err
		}
	}
	return nil
}

// nodes writes the nodes. A delta whose nodes are the same as those of its parent has none of its own, and sets NodesBy.
func (w *releaseWriter) nodes(ctx context.Context) error {
	published, err := w.publishedNodes(ctx)
	if err != nil {
		return err
	}
	if d := w.plan.delta; d != nil {
		before, err := d.view.Tree(ctx)
		if err != nil {
			return err
		}
		if slices.EqualFunc(before.Nodes, w.plan.tree.Nodes, func(was, is *segment.CatalogNode) bool {
			return was.SameContent(is) && store.Micros(was.PublishedAt) == published[is.ID]
		}) {
			w.release.NodesBy = cmp.Or(d.parent.NodesBy, d.parent.ID)
			return nil
		}
	}
	for place, n := range w.plan.tree.Nodes {
		texts := ""
		if n.Texts != nil {
			texts = string(store.Encode(n.Texts))
		}
		if err := w.put(ctx, "release_node", []any{w.release.ID, place, n.ID, string(n.Kind), n.Name, n.Slug, n.Description, n.HierarchyID, n.ParentID, store.Micros(n.CreatedAt), store.Micros(n.UpdatedAt), published[n.ID],
			n.SEO.Title, n.SEO.Description, texts, n.Position, n.MainImageID, n.Attributes}); err != nil {
			return err
		}
	}
	return nil
}

// publishedNodes returns since when the served release shows nodes as the new
// one does, in microseconds by id. It leaves out nodes that differ; nil if all do.
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
