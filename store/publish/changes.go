package publish

import (
	"context"
	"database/sql"
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
	now, before := w.release, served.Release
	if before.Format != now.Format || before.Locale != now.Locale || !slices.Equal(before.Locales, now.Locales) || len(w.differing) > maxDiffering {
		w.changes.AddEverything()
	} else {
		for _, find := range []func(context.Context) error{w.changedProducts, w.changedNodes, w.changedFiles, w.changedLists, w.changedAttributes, w.changedSynonyms, w.changedRedirects} {
			if err := find(ctx); err != nil {
				return err
			}
		}
	}
	return w.batch(ctx, func(ctx context.Context, t *db.Tx) error {
		return t.InsertRows(ctx, "release_change", []string{"release_id", "against_id", "body"}, [][]any{{now.ID, before.ID, w.changes.Pack()}})
	})
}

// changedProducts adds the products that differ, with what they are found by.
func (w *releaseWriter) changedProducts(ctx context.Context) error {
	if len(w.differing) == 0 {
		return nil
	}
	w.changes.Add(segment.AnyProduct)
	return store.Chunked(w.differing, 512, func(ids []string) error {
		for _, id := range ids {
			w.changes.Add(segment.ProductKey(id))
		}
		for _, view := range []*release.View{w.servedView(), w.ownView()} {
			products, err := view.ProductsByID(ctx, ids)
			if err != nil {
				return err
			}
			for _, product := range products {
				w.changes.Add(segment.SKUKey(product.SKU()), segment.SlugKey(product.Slug()))
			}
		}
		return nil
	})
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
		before, err := filesIn(ctx, w.service.db.Reader, w.served.Layers(), ids)
		if err != nil {
			return err
		}
		own := w.ownView()
		now, err := filesIn(ctx, w.service.db.Reader, own.Layers(), ids)
		for _, id := range ids {
			if before[id] != now[id] {
				w.changes.Add(segment.AnyFile, segment.FileKey(id))
			}
		}
		return err
	})
}

// fileCandidates returns the ids of files that may differ: those in the upper
// layers, and those that differ between the bases.
func (w *releaseWriter) fileCandidates(ctx context.Context) (ids []string, err error) {
	in := w.service.db.Reader // the new release's own rows are not in the snapshot
	var bases [2]int64
	for i, r := range []*segment.Release{w.served.Release, w.release} {
		if bases[i] = r.BaseID; r.BaseID == 0 {
			bases[i] = r.ID
			continue
		}
		own, err := db.Collect(ctx, in, db.Scalar[string], `SELECT file_id FROM release_file WHERE release_id = $1`, r.ID)
		if err != nil {
			return nil, err
		}
		ids = append(ids, own...)
	}
	if bases[0] == bases[1] {
		return store.Unique(ids), nil
	}
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

// filesIn returns the texts of files in some layers, the upper one first.
func filesIn(ctx context.Context, in db.Session, layers []any, ids []string) (map[string]string, error) {
	type file struct {
		release  int64
		id, body string
	}
	list, args := db.InList(layers, ids)
	files, err := db.Collect(ctx, in, func(rows *sql.Rows) (f file, err error) {
		return f, rows.Scan(&f.release, &f.id, &f.body)
	}, `SELECT release_id, file_id, body FROM release_file WHERE release_id IN ($1, $2) AND file_id IN (`+list+`)`, args...)
	texts := make(map[string]string, len(files))
	for _, f := range files {
		if _, known := texts[f.id]; !known || any(f.release) == layers[0] {
			texts[f.id] = f.body
		}
	}
	return texts, err
}

// changedAttributes adds the declarations of attributes if one differs.
func (w *releaseWriter) changedAttributes(ctx context.Context) error {
	before, err := w.servedView().Attributes(ctx)
	if err != nil {
		return err
	}
	if !slices.EqualFunc(before, w.plan.attributes, sameSource) {
		w.changes.Add(segment.AnyAttribute)
	}
	return nil
}
