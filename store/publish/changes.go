package publish

import (
	"context"
	"errors"
	"maps"
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

// findChanges writes what differs between the new release and the served one, for
// caches of responses, and the paths that changed. It also sets since when nodes are the same. If everything differs, it still
// looks for paths and for nodes.
func (w *releaseWriter) findChanges(ctx context.Context) error {
	if w.served == nil {
		w.changes.AddEverything()
		return nil
	}
	finds := []func(context.Context) error{w.changedNodes, w.changedProducts}
	if w.everything {
		w.changes.AddEverything()
	} else {
		finds = append(finds, w.changedCurrencies, w.changedFiles, w.changedAttributes, w.changedSynonyms, w.changedRedirects)
	}
	for _, find := range finds {
		if err := find(ctx); err != nil {
			return err
		}
	}
	if err := w.put(ctx, "path_change", w.paths.rows...); err != nil {
		return err
	}
	return w.put(ctx, "release_change", []any{w.release.ID, w.served.Release.ID, w.changes.Pack()})
}

// changedProducts adds the products that differ, with what they are found by, and the paths that changed.
func (w *releaseWriter) changedProducts(ctx context.Context) error {
	var ids []string
	for _, product := range w.compared.Products {
		if !w.everything || product.Effect != compare.PendingAdd { // the others have no paths that end
			ids = append(ids, product.ID)
		}
	}
	if len(ids) > 0 {
		w.changes.Add(segment.AnyProduct)
	}
	return store.Chunked(ids, compare.AtOnce, func(ids []string) error {
		for _, id := range ids {
			w.changes.Add(segment.ProductKey(id))
		}
		changes, err := compare.ChangesOf(w.compared, func(side compare.Side) (map[string]compare.FoundBy, error) { return side.FoundBy(ctx, ids) }, nil)
		if w.everything && errors.Is(err, segment.ErrGone) {
			return nil // the served release was swept meanwhile, or lacks a product
		}
		if err != nil {
			return err
		}
		differ := func(by compare.FoundBy) { w.changes.Add(segment.SKUKey(by.SKU), segment.SlugKey(by.Slug)) }
		for _, change := range changes {
			switch change.Effect {
			case compare.PendingAdd:
				differ(change.Is)
			case compare.PendingRemove:
				differ(change.Was)
			case compare.PendingChange:
				differ(change.Was)
				differ(change.Is)
			}
			if err := w.changePath(ctx, change.ID, stepsOfProduct(change.Was), stepsOfProduct(change.Is)); err != nil {
				return err
			}
		}
		return nil
	})
}

// changedCurrencies adds segment.AnyCurrency if the products have prices in other currencies than those of the served release.
func (w *releaseWriter) changedCurrencies(ctx context.Context) error {
	if len(w.compared.Products) == 0 {
		return nil
	}
	found, err := segment.CurrenciesOf(ctx, w.service.db.Reader, []*segment.Release{w.served.Release, w.release})
	if err != nil {
		return err
	}
	now := maps.Clone(w.currencies) // rows of a delta may not be written yet
	for _, currency := range found[1] {
		now[currency] = true
	}
	if !slices.Equal(found[0], slices.Sorted(maps.Keys(now))) {
		w.changes.Add(segment.AnyCurrency)
	}
	return nil
}

// changedNodes adds the nodes that differ, and the nodes above them, whose
// children they are, and the paths that changed.
func (w *releaseWriter) changedNodes(ctx context.Context) error {
	changes, err := w.compared.ChangedNodes(ctx)
	if err != nil {
		return err
	}
	differ := func(node *segment.CatalogNode) {
		w.changes.Add(segment.AnyNode, segment.NodeKey(node.ID), segment.ChildrenKey(node.ParentID))
	}
	for _, change := range changes {
		if err := w.changePath(ctx, change.ID, stepsOfNode(change.Was), stepsOfNode(change.Is)); err != nil {
			return err
		}
		switch change.Effect {
		case compare.PendingAdd:
			differ(change.Is)
		case compare.PendingRemove:
			differ(change.Was)
			w.changes.Add(segment.ListKey(segment.ListOfNode(change.ID)), segment.ListKey(change.Was.ListOfSubtree()))
		case compare.PendingChange:
			differ(change.Was)
			differ(change.Is)
		}
	}
	if !w.changes.Has(segment.AnyNode) {
		w.release.NodesSince, w.release.NodesAt = w.served.Release.NodesSince, w.served.Release.NodesAt
	}
	return nil
}

// changedFiles adds the files that differ.
func (w *releaseWriter) changedFiles(ctx context.Context) (err error) {
	if w.compared.FileIDs, err = w.fileCandidates(ctx); err != nil {
		return err
	}
	changes, err := w.compared.ChangedFiles(ctx)
	for _, change := range changes {
		w.changes.Add(segment.AnyFile, segment.FileKey(change.ID))
	}
	return err
}

// fileCandidates returns the ids of files that may differ: for a delta those written since the parent and those of the
// served release's layers above it, else those in the layers above the bases, and those that differ between the bases. A
// dry run has no base, so there these are all.
func (w *releaseWriter) fileCandidates(ctx context.Context) (ids []string, err error) {
	in := w.service.db.Reader // the new release's own rows are not in the snapshot
	if d := w.plan.delta; d != nil {
		above, err := compare.FileIDsIn(ctx, in, d.above)
		return store.Unique(append(above, d.changes["file"]...)), err
	}
	if w.dryRun {
		for at := range w.plan.files.Len() {
			ids = append(ids, w.plan.files.At(uint32(at)))
		}
		if w.served == nil {
			return ids, nil
		}
		before, err := compare.FileIDsIn(ctx, in, w.served.Release.Layers())
		return append(ids, before...), err
	}
	if ids, err = compare.FileIDsIn(ctx, in, w.served.Release.Layers()[1:]); err != nil {
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

// changedAttributes adds the declarations of attributes if one differs.
func (w *releaseWriter) changedAttributes(ctx context.Context) error {
	return changedShopList(ctx, w, "attribute", segment.AnyAttribute, w.compared.ChangedAttributes)
}
