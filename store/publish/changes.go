package publish

import (
	"context"
	"maps"
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/db"
	"portico/store/release"
	"portico/store/release/segment"
)

// findChanges finds what differs between the new release and the served one, for
// caches of responses, and writes it. It also sets since when lists and nodes are
// the same.
func (w *releaseWriter) findChanges(ctx context.Context) error {
	served := w.served
	if served == nil {
		w.changes.AddEverything()
		return nil
	}
	if w.everything {
		w.changes.AddEverything()
	} else {
		for _, find := range []func(context.Context) error{w.changedProducts, w.changedNodes, w.changedFiles, w.changedAttributes, w.changedSynonyms, w.changedRedirects} {
			if err := find(ctx); err != nil {
				return err
			}
		}
	}
	if err := w.slugChanges(ctx); err != nil {
		return err
	}
	return w.put(ctx, "release_change", []any{w.release.ID, served.Release.ID, w.changes.Pack()})
}

// changedProducts adds the products that differ, with what they are found by.
func (w *releaseWriter) changedProducts(ctx context.Context) error {
	if len(w.differing) == 0 {
		return nil
	}
	w.changes.Add(segment.AnyProduct)
	return store.Chunked(w.differing, 512, func(ids []string) error {
		before, err := foundIn(ctx, w.servedView(), ids)
		if err != nil {
			return err
		}
		now, err := w.foundNow(ctx, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			w.changes.Add(segment.ProductKey(id))
			for _, products := range []map[string]foundBy{before, now} {
				if by, found := products[id]; found {
					w.changes.Add(segment.SKUKey(by.sku), segment.SlugKey(by.slug))
				}
			}
		}
		return nil
	})
}

// foundIn returns what products of a release are found by. It leaves out unknown ids.
func foundIn(ctx context.Context, v *release.View, ids []string) (map[string]foundBy, error) {
	products, err := v.ProductsByID(ctx, ids)
	found := make(map[string]foundBy, len(products))
	for id, product := range products {
		found[id] = foundBy{product.SKU(), product.Slug()}
	}
	return found, err
}

// foundNow returns what some products of the new release are found by.
func (w *releaseWriter) foundNow(ctx context.Context, ids []string) (map[string]foundBy, error) {
	if w.plan.delta == nil {
		return foundIn(ctx, w.ownView(), ids)
	}
	found := make(map[string]foundBy, len(ids))
	var others []string
	for _, id := range ids {
		if by, own := w.found[id]; own {
			found[id] = by
		} else {
			others = append(others, id)
		}
	}
	alive, err := w.inParent(ctx, others)
	if err != nil {
		return nil, err
	}
	below, err := foundIn(ctx, w.plan.delta.view, sortedIDs(alive))
	maps.Copy(found, below)
	return found, err
}

// changedNodes adds the nodes that differ, and the nodes above them, whose
// children they are.
func (w *releaseWriter) changedNodes(ctx context.Context) error {
	before, err := w.served.Tree(ctx)
	if err != nil {
		return err
	}
	differ := func(node *segment.CatalogNode) {
		w.changes.Add(segment.AnyNode, segment.NodeKey(node.ID), segment.ChildrenKey(node.ParentID))
	}
	for _, node := range w.plan.tree.Nodes {
		was := before.ByID[node.ID]
		if was != nil && was.SameContent(node) {
			continue
		}
		if differ(node); was != nil {
			differ(was)
		}
	}
	for _, was := range before.Nodes {
		if w.plan.tree.ByID[was.ID] == nil {
			differ(was)
			w.changes.Add(segment.ListKey(segment.ListOfNode(was.ID)), segment.ListKey(was.ListOfSubtree()))
		}
	}
	if !w.changes.Has(segment.AnyNode) {
		w.release.NodesSince, w.release.NodesAt = w.served.Release.NodesSince, w.served.Release.NodesAt
	}
	return nil
}

// changedFiles adds the files that differ.
func (w *releaseWriter) changedFiles(ctx context.Context) error {
	candidates, err := w.fileCandidates(ctx)
	if err != nil {
		return err
	}
	return store.Chunked(candidates, 512, func(ids []string) error {
		before, err := filesIn(ctx, w.service.db.Reader, &w.served.Reader, ids)
		if err != nil {
			return err
		}
		now, err := w.filesNow(ctx, ids)
		for _, id := range ids {
			if before[id] != now[id] {
				w.changes.Add(segment.AnyFile, segment.FileKey(id))
			}
		}
		return err
	})
}

// filesNow returns the texts of files of the new release.
func (w *releaseWriter) filesNow(ctx context.Context, ids []string) (map[string]string, error) {
	if w.plan.delta == nil {
		return filesIn(ctx, w.service.db.Reader, &w.ownView().Reader, ids)
	}
	now, err := filesIn(ctx, w.service.db.Reader, &w.plan.delta.view.Reader, ids)
	maps.Copy(now, w.ownFiles)
	return now, err
}

// fileCandidates returns the ids of files that may differ: for a delta those written since the parent and those of the
// served release's layers above it, else those in the layers above the bases, and those that differ between the bases.
func (w *releaseWriter) fileCandidates(ctx context.Context) (ids []string, err error) {
	in := w.service.db.Reader // the new release's own rows are not in the snapshot
	if d := w.plan.delta; d != nil {
		above, err := fileIDsIn(ctx, in, d.above)
		return store.Unique(append(above, d.changes["file"]...)), err
	}
	if ids, err = fileIDsIn(ctx, in, w.served.Release.Layers()[1:]); err != nil {
		return nil, err
	}
	bases := [2]int64{w.served.Release.LayerIDs()[0], w.release.ID}
	for range bases {
		bases[0], bases[1] = bases[1], bases[0]
		found, err := db.Collect(ctx, in, db.Scalar[string], `
			SELECT f.file_id FROM release_file f LEFT JOIN release_file o ON o.release_id = $2 AND o.file_id = f.file_id
			WHERE f.release_id = $1 AND (o.body IS NULL OR o.body <> f.body) LIMIT $3`, bases[0], bases[1], dependency.MaxChanges+1)
		if err != nil {
			return nil, err
		}
		if len(found) > dependency.MaxChanges {
			w.changes.AddEverything()
			return nil, nil
		}
		ids = append(ids, found...)
	}
	return store.Unique(ids), nil
}

// fileIDsIn returns the ids of the files of some layers.
func fileIDsIn(ctx context.Context, in db.Session, layers []segment.Layer) ([]string, error) {
	ids := make([]int64, len(layers))
	for i, layer := range layers {
		ids[i] = layer.ID
	}
	return db.CollectIn(ctx, in, db.Scalar[string], ids, `SELECT file_id FROM release_file WHERE release_id IN ($in)`)
}

// filesIn returns the texts of files of a release, from the highest layer that has them.
func filesIn(ctx context.Context, in db.Session, r *segment.Reader, ids []string) (map[string]string, error) {
	of, args := r.InLayers()
	list, args := db.InList(args, ids)
	files, err := db.Collect(ctx, in, db.ScanPair[string, string], `
		SELECT file_id, body FROM release_file WHERE release_id IN (`+of+`) AND file_id IN (`+list+`) ORDER BY release_id`, args...)
	texts := make(map[string]string, len(files))
	for _, f := range files { // the base first, whose number is the lowest
		texts[f.Key] = f.Value
	}
	return texts, err
}

// changedAttributes adds the declarations of attributes if one differs.
func (w *releaseWriter) changedAttributes(ctx context.Context) error {
	if w.plan.delta != nil { // else the release would be whole
		return nil
	}
	before, err := w.servedView().Attributes(ctx)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(before, w.plan.attributes, sameSource) {
		w.changes.Add(segment.AnyAttribute)
	}
	return nil
}
