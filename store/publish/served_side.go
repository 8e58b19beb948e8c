package publish

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release"
	"portico/store/release/segment"
)

// servedSide is the served release, of which a publication has read the versions (readServed).
type servedSide struct {
	*compare.StoredSide
	w *releaseWriter
}

func (s *servedSide) Versions(_ context.Context, ids []string) (map[string]compare.ProductVersion, error) {
	found := make(map[string]compare.ProductVersion, len(ids))
	for _, id := range ids {
		was, other := s.w.others[id]
		if handle, own := s.w.plan.own(id); own && !other {
			was = s.w.before[handle]
		}
		if was.Published != 0 {
			found[id] = was
		}
	}
	return found, nil
}

// readServed sets w.served, and reads the versions of products in the served release, for w.before and w.others. For a delta
// these are the products that it holds itself, those that are gone, and those of the layers above its parent; for a whole
// release all, so that those that are gone are found.
func (w *releaseWriter) readServed(ctx context.Context) error {
	w.before, w.others = make([]compare.ProductVersion, w.plan.ids.Len()), map[string]compare.ProductVersion{}
	if w.plan.served == 0 {
		return nil
	}
	d := w.plan.delta
	if d != nil && d.parent.ID == w.plan.served {
		w.served = d.view
	} else {
		served := w.plan.servedRelease
		if served == nil {
			var err error
			if served, err = segment.KeptRelease(ctx, w.plan.in, w.plan.served); err != nil {
				return err
			}
		}
		w.served = w.service.releases.ViewOf(served)
	}
	if d != nil {
		w.served = w.served.Ahead()
	}
	w.compared.Before = &servedSide{compare.NewStoredSide(w.service.db, w.servedView()), w}
	if d == nil {
		return w.readAllServed(ctx)
	}
	ids := map[string]bool{}
	for _, handle := range w.plan.order {
		ids[w.plan.ids.At(handle)] = true
	}
	for _, id := range d.gone {
		ids[id] = true
	}
	if err := compare.IdsIn(ctx, w.served, d.above, ids); err != nil {
		return err
	}
	return store.Chunked(compare.SortedIDs(ids), compare.AtOnce, func(ids []string) error {
		found, err := compare.VersionsIn(ctx, w.served, ids)
		for _, id := range ids {
			w.setBefore(id, found[id])
		}
		return err
	})
}

// setBefore sets the version of a product in the served release; zero for one that it does not show.
func (w *releaseWriter) setBefore(id string, was compare.ProductVersion) {
	if handle, own := w.plan.own(id); own {
		w.before[handle] = was
	} else {
		w.others[id] = was
	}
}

// readAllServed reads the versions of all products of the served release. Those of a release of another format
// count as changed: it has other versions.
func (w *releaseWriter) readAllServed(ctx context.Context) error {
	served := w.servedView()
	dead, err := served.Dead(ctx)
	if err != nil {
		return err
	}
	var hashes, published segment.Keys
	if served.Release.Format == segment.ReleaseFormat {
		if hashes, err = served.AllKeys(ctx, segment.SortVersion); err != nil {
			return err
		}
		if published, err = served.AllKeys(ctx, segment.SortPublished); err != nil {
			return err
		}
	}
	type product struct {
		id      string
		ordinal uint32
	}
	scan := func(rows *sql.Rows) ([]any, product, error) {
		var p product
		err := rows.Scan(&p.id, &p.ordinal)
		return []any{p.id}, p, err
	}
	note := func(products []product) error {
		for _, p := range products {
			if _, isDead := slices.BinarySearch(dead, p.ordinal); isDead {
				continue
			}
			was := compare.ProductVersion{Published: served.Release.HolderIdentity(int(p.ordinal)).Published, Ordinal: p.ordinal}
			if hashes != nil {
				was.Version, was.Published = hashes.At(p.ordinal), cmp.Or(published.At(p.ordinal), was.Published)
			}
			w.setBefore(p.id, was)
		}
		return nil
	}
	for _, layer := range served.Release.LayerIDs() { // one by one, so that each is read in the order of its key
		of := []db.Condition{{Clause: "release_id = ?", Values: []any{layer}}}
		if err := db.EachPageWhere(ctx, w.plan.in, "release_place", of, "product_id, ordinal", []string{"product_id"}, scan, note); err != nil {
			return err
		}
	}
	return nil
}

// compare finds the products that differ from the served release: those that the release holds itself, and others that
// the served release has changed above the parent of a delta, or that are gone. All others are the same in both.
func (w *releaseWriter) compare(ctx context.Context) error {
	c := w.compared
	if err := store.Chunked(w.plan.order, compare.AtOnce, func(handles []uint32) error {
		ids := make([]string, len(handles))
		for i, handle := range handles {
			ids[i] = w.plan.ids.At(handle)
		}
		return c.CompareProducts(ctx, ids)
	}); err != nil {
		return err
	}
	if err := c.CompareProducts(ctx, compare.SortedIDs(w.others)); err != nil {
		return err
	}
	var count compare.DifferenceCount
	for _, product := range c.Products {
		count.Add(product.Effect)
	}
	now := w.release
	now.Added, now.Changed, now.Removed = count.Added, count.Changed, count.Removed
	if w.served != nil {
		before := w.served.Release
		w.everything = before.Format != now.Format || before.Locale != now.Locale || !slices.Equal(before.Locales, now.Locales) || len(c.Products) > maxDiffering
	}
	return nil
}

// servedView returns a view of the served release, which for a whole release that is written caches nothing.
func (w *releaseWriter) servedView() *release.View {
	if w.plan.delta != nil || w.dryRun {
		return w.served
	}
	return release.Uncached(w.served, w.served.Release)
}

// maxDiffering is the largest number of products that findChanges names one by
// one. Each has up to five keys.
const maxDiffering = dependency.MaxChanges / 5
