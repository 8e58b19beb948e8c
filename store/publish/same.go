package publish

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// upToDate returns the served release if no authored data was written since, else
// nil; also nil for a release of another format. It returns a *routing.HeldError if
// the catalog's hold forbids the publication.
func (s *PublishService) upToDate(ctx context.Context, catalogID string, how publication) (*segment.Release, error) {
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	plan := &publicationPlan{in: s.db.Reader}
	if err := plan.readCatalog(ctx, catalogID); err != nil || plan.served == 0 {
		return nil, err
	}
	if err := how.may(plan.hold); err != nil {
		return nil, err
	}
	served, err := segment.KeptRelease(ctx, s.db.Reader, plan.served)
	if err != nil {
		return nil, ignoreNotFound(err)
	}
	if served.Format != segment.ReleaseFormat || served.Revision != plan.revision || served.Locale != cmp.Or(plan.source.Attributes.Locale, settings.Locale) {
		return nil, nil
	}
	return served, nil
}

// showsTheSame reports whether the new release shows the same as the served one:
// compare found no difference, and the tree, files and lists are equal.
func (w *releaseWriter) showsTheSame(ctx context.Context) (bool, error) {
	r, served := w.release, w.served
	if served == nil || r.Added+r.Changed+r.Removed > 0 ||
		served.Release.Format != segment.ReleaseFormat || served.Release.Locale != r.Locale || !slices.Equal(served.Release.Locales, r.Locales) {
		return false, nil
	}
	for _, same := range []func(context.Context) (bool, error){w.sameTree, w.sameFiles, w.sameLists} {
		if is, err := same(ctx); err != nil || !is {
			return false, err
		}
	}
	return true, nil
}

func (w *releaseWriter) sameTree(ctx context.Context) (bool, error) {
	before, err := w.served.Tree(ctx)
	if err != nil {
		return false, err
	}
	return slices.EqualFunc(before.Nodes, w.plan.tree.Nodes, (*segment.CatalogNode).SameContent), nil
}

func (w *releaseWriter) sameFiles(ctx context.Context) (bool, error) {
	before, err := w.filesIn(ctx, w.served.Layers())
	if err != nil {
		return false, err
	}
	own := *w.served
	own.Release = w.release
	now, err := w.filesIn(ctx, own.Layers())
	return maps.Equal(before, now), err
}

// filesIn returns the documents of the files in some layers, the upper one first.
func (w *releaseWriter) filesIn(ctx context.Context, layers []any) (map[string]int64, error) {
	files := map[string]int64{}
	scan := func(rows *sql.Rows) ([]any, struct{}, error) {
		var id string
		var document int64
		err := rows.Scan(&id, &document)
		if _, above := files[id]; !above {
			files[id] = document
		}
		return []any{id}, struct{}{}, err
	}
	for _, layer := range store.Unique(layers) {
		of := []db.Condition{{Clause: "release_id = ?", Values: []any{layer}}}
		// The new release's own rows are not in the snapshot.
		if err := db.EachPageWhere(ctx, w.service.db.Reader, "release_file", of, "file_id, document_id", []string{"file_id"}, scan, func([]struct{}) error { return nil }); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// sameLists compares the list of every node with the served one. The products are
// the same, so only the curated order can differ.
func (w *releaseWriter) sameLists(ctx context.Context) (bool, error) {
	if w.plan.delta != nil {
		return w.sameDeltaLists(ctx)
	}
	served := w.served.Ahead()
	names := []string{segment.ListAll}
	for _, node := range w.plan.tree.Nodes {
		names = append(names, segment.ListOfNode(node.ID))
	}
	heads, err := served.ListHeads(ctx, names)
	if err != nil {
		return false, err
	}
	var kept []segment.KeptList
	longest := 1
	for _, name := range names {
		if heads[name] == nil {
			return false, nil
		}
		kept, longest = append(kept, heads[name].Kept(name)), max(longest, heads[name].Total)
	}
	if _, err := segment.ChunksOf(ctx, &served.Reader, kept, store.SortDefault, 0, (longest-1)/segment.ChunkSize, index.UnpackOrdinals); err != nil {
		return false, err
	}
	places, err := w.servedPlaces(ctx)
	if err != nil {
		return false, err
	}
	for i, node := range w.plan.tree.Nodes {
		name := names[i+1]
		a := segment.List{Reader: &served.Reader, Name: name, Head: heads[name]}
		before, err := a.Members(ctx)
		if err != nil {
			return false, err
		}
		now := make(index.Ordinals, 0, len(before))
		for _, handle := range w.plan.attached[node.ID] {
			now = append(now, places[handle])
		}
		slices.Sort(now)
		slices.Sort(before)
		curated := make([]uint32, 0, len(w.plan.curated[node.ID]))
		for _, handle := range w.plan.curated[node.ID] {
			curated = append(curated, places[handle])
		}
		if !slices.Equal(before, slices.Compact(now)) || !slices.Equal(heads[name].Curated, curated) {
			return false, nil
		}
	}
	return true, nil
}

// sameDeltaLists is sameLists for a delta. The served release is its base or
// another delta of that, so lists that both share with the base are equal.
func (w *releaseWriter) sameDeltaLists(ctx context.Context) (bool, error) {
	own := *w.served
	own.Release, own.Cache = w.release, nil // its cache identity is not known before it is published
	now, before := own.Ahead(), w.served.Ahead()
	var names []string
	for _, node := range w.plan.tree.Nodes {
		names = append(names, segment.ListOfNode(node.ID))
	}
	known := map[string]uint32{}
	isNow, err := w.canonicalIDs(ctx, now, known)
	if err != nil {
		return false, err
	}
	was, err := w.canonicalIDs(ctx, before, known)
	if err != nil {
		return false, err
	}
	same := true
	return same, store.Chunked(names, 512, func(names []string) error {
		heads, err := now.ListHeads(ctx, names)
		if err != nil {
			return err
		}
		served, err := before.ListHeads(ctx, names)
		for _, name := range names {
			if !same || err != nil {
				break
			}
			a, b := heads[name], served[name]
			if same = a != nil && b != nil && a.Total == b.Total && slices.Equal(isNow(a.Curated), was(b.Curated)); !same || a.HeldBy == b.HeldBy {
				continue
			}
			var x, y index.Ordinals
			if x, err = (segment.List{Reader: &now.Reader, Name: name, Head: a}).Members(ctx); err != nil {
				break
			}
			if y, err = (segment.List{Reader: &before.Reader, Name: name, Head: b}).Members(ctx); err != nil {
				break
			}
			x, y = isNow(x), was(y)
			slices.Sort(x)
			slices.Sort(y)
			same = slices.Equal(x, y)
		}
		return err
	})
}

// canonicalIDs returns a function that converts ordinals to numbers that are the
// same in every delta of a base: the ordinal in the base, else a number from the
// top, which known assigns to the id.
func (w *releaseWriter) canonicalIDs(ctx context.Context, v *release.View, known map[string]uint32) (func([]uint32) index.Ordinals, error) {
	own := map[uint32]uint32{}
	if v.Release.BaseID != 0 {
		type product struct {
			id      string
			ordinal uint32
		}
		products, err := db.Collect(ctx, w.service.db.Reader, func(rows *sql.Rows) (p product, err error) {
			return p, rows.Scan(&p.id, &p.ordinal)
		}, `SELECT product_id, ordinal FROM release_product WHERE release_id = $1`, v.Release.ID)
		if err != nil {
			return nil, err
		}
		ids := make([]string, len(products))
		for i, p := range products {
			ids[i] = p.id
		}
		inBase := map[string]segment.Place{}
		if err := store.Chunked(ids, 512, func(ids []string) error {
			some, err := w.plan.delta.view.PlacesByID(ctx, ids)
			maps.Copy(inBase, some)
			return err
		}); err != nil {
			return nil, err
		}
		for _, p := range products {
			at, ok := inBase[p.id]
			if own[p.ordinal] = uint32(at); !ok {
				if _, numbered := known[p.id]; !numbered {
					known[p.id] = math.MaxUint32 - uint32(len(known))
				}
				own[p.ordinal] = known[p.id]
			}
		}
	}
	return func(list []uint32) index.Ordinals {
		named := make(index.Ordinals, len(list))
		for i, ordinal := range list {
			if named[i] = ordinal; int(ordinal) >= v.Release.FirstOrdinal && v.Release.BaseID != 0 {
				named[i] = own[ordinal]
			}
		}
		return named
	}, nil
}

// servedPlaces returns the ordinals of the products in the served release, by
// handle.
func (w *releaseWriter) servedPlaces(ctx context.Context) ([]uint32, error) {
	dead, err := w.served.Dead(ctx)
	if err != nil {
		return nil, err
	}
	places := make([]uint32, w.plan.ids.Len())
	scan := func(rows *sql.Rows) ([]any, uint32, error) {
		var id string
		var ordinal uint32
		err := rows.Scan(&id, &ordinal)
		if handle, live := w.plan.ids.Find(id); live {
			if _, isDead := slices.BinarySearch(dead, ordinal); !isDead {
				places[handle] = ordinal
			}
		}
		return []any{id}, ordinal, err
	}
	for _, layer := range store.Unique(w.served.Layers()) {
		of := []db.Condition{{Clause: "release_id = ?", Values: []any{layer}}}
		if err := db.EachPageWhere(ctx, w.plan.in, "release_place", of, "product_id, ordinal", []string{"product_id"}, scan, func([]uint32) error { return nil }); err != nil {
			return nil, err
		}
	}
	return places, nil
}

// giveUp deletes a release that shows the same as the served one, and marks that
// as up to date. It returns false when another publication of the catalog is
// running or finished meanwhile: then the later release must win.
func (s *PublishService) giveUp(ctx context.Context, actor store.Actor, release *segment.Release, served int64) (dropped bool, err error) {
	if err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		dropped = false
		// Locks the catalog's row, as finishRelease does.
		n, err := t.Exec(ctx, `
			UPDATE catalog SET release_id = release_id
			WHERE id = $1 AND release_id = $2
			  AND NOT EXISTS (SELECT 1 FROM release WHERE catalog_id = $1 AND state = $3 AND id <> $4)`,
			release.CatalogID, served, catalog.ReleaseBuilding, release.ID)
		if err != nil || n == 0 {
			return err
		}
		if _, err := t.Exec(ctx, `UPDATE release SET revision = $2 WHERE id = $1 AND revision < $2`, served, release.Revision); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, `UPDATE release SET state = 'dropped', touched_at = 0 WHERE id = $1 AND state = $2`, release.ID, catalog.ReleaseBuilding); err != nil {
			return err
		}
		dropped = true
		return nil
	}); err != nil || !dropped {
		return false, err
	}
	return true, s.dropRelease(ctx, actor, deadRelease{id: release.ID, delta: release.BaseID != 0})
}
