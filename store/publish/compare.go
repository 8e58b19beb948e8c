package publish

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"portico/internal/dependency"
	"portico/store"
	"portico/store/db"
	"portico/store/release"
	"portico/store/release/segment"
)

// servedVersion is a hash of what the served release shows of a product, and the
// time at which it was first published, in microseconds: 0 if it is not shown.
type servedVersion struct{ version, published int64 }

// readServed reads the versions of the served release. For a whole release it
// also counts the products that are gone.
func (w *releaseWriter) readServed(ctx context.Context) error {
	w.before = make([]servedVersion, w.plan.ids.Len())
	if w.plan.served == 0 {
		return nil
	}
	served, err := segment.KeptRelease(ctx, w.plan.in, w.plan.served)
	if err != nil {
		return err
	}
	w.served = release.ViewOf(w.service.releases, served)
	if w.plan.delta == nil {
		return w.readAllServed(ctx)
	}
	ids := make([]string, len(w.plan.order))
	for i, handle := range w.plan.order {
		ids[i] = w.plan.ids.At(handle)
	}
	return store.Chunked(ids, 512, func(ids []string) error {
		found, err := versions(ctx, w.served, ids)
		for id, version := range found {
			if handle, live := w.plan.ids.Find(id); live {
				w.before[handle] = version
			}
		}
		return err
	})
}

// readAllServed also notes the ordinals in the served release. Products of a release of an earlier format
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
	w.places = make([]uint32, w.plan.ids.Len())
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
			handle, live := w.plan.ids.Find(p.id)
			if !live || w.plan.ordinals[handle] < 0 {
				w.release.Removed++
				w.differ(p.id)
				continue
			}
			was := servedVersion{published: served.Release.HolderIdentity(int(p.ordinal)).Published}
			if hashes != nil {
				was = servedVersion{hashes.At(p.ordinal), cmp.Or(published.At(p.ordinal), was.published)}
			}
			w.before[handle], w.places[handle] = was, p.ordinal
		}
		return nil
	}
	for _, layer := range store.Unique(served.Layers()) { // one by one, so that each is read in the order of its key
		of := []db.Condition{{Clause: "release_id = ?", Values: []any{layer}}}
		if err := db.EachPageWhere(ctx, w.plan.in, "release_place", of, "product_id, ordinal", []string{"product_id"}, scan, note); err != nil {
			return err
		}
	}
	return nil
}

// compare counts the products that differ from the served release.
func (w *releaseWriter) compare(ctx context.Context) error {
	if w.plan.delta != nil {
		return w.compareDelta(ctx, w.served)
	}
	for ordinal, handle := range w.plan.order {
		switch was := w.before[handle]; {
		case was.published == 0:
			w.release.Added++
		case was.version != w.versions[ordinal]:
			w.release.Changed++
			w.changed = append(w.changed, handle)
		default:
			continue
		}
		w.differ(w.plan.ids.At(handle))
	}
	return nil
}

// ownView returns a view of the new release, which caches nothing: its cache
// identity is not known before it is published.
func (w *releaseWriter) ownView() *release.View { return release.Uncached(w.served, w.release) }

// servedView returns a view of the served release, which caches nothing.
func (w *releaseWriter) servedView() *release.View {
	return release.Uncached(w.served, w.served.Release)
}

// maxDiffering is the largest number of products that findChanges names one by
// one. Each has up to five keys.
const maxDiffering = dependency.MaxChanges / 5

// differ records that a product differs. It keeps the ids of so many products as
// findChanges uses, but a dry run lists all.
func (w *releaseWriter) differ(id string) {
	if w.dryRun || len(w.differing) <= maxDiffering {
		w.differing = append(w.differing, id)
	}
}

// compareDelta compares a delta with its base or with another delta of it.
// Products that are in neither delta are the same in both.
func (w *releaseWriter) compareDelta(ctx context.Context, served *release.View) error {
	own := w.ownView()
	ids := map[string]bool{}
	for _, handle := range w.plan.order {
		ids[w.plan.ids.At(handle)] = true
	}
	for _, view := range []*release.View{served, own} {
		if err := differing(ctx, w.service.db.Reader, view, ids); err != nil {
			return err
		}
	}
	all := make([]string, 0, len(ids))
	for id := range ids {
		all = append(all, id)
	}
	slices.Sort(all)
	r := w.release
	return store.Chunked(all, 512, func(ids []string) error {
		before, err := versions(ctx, served, ids)
		if err != nil {
			return err
		}
		now, err := versions(ctx, own, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			was, wasThere := before[id]
			is, isThere := now[id]
			switch {
			case isThere && !wasThere:
				r.Added++
			case wasThere && !isThere:
				r.Removed++
			case was.version != is.version:
				r.Changed++
				w.changedID = append(w.changedID, id)
			default:
				continue
			}
			w.differ(id)
		}
		return nil
	})
}

// differing adds the ids of a delta's own products, and of the products of its
// base that it does not have.
func differing(ctx context.Context, in db.Session, v *release.View, ids map[string]bool) error {
	if v.Release.BaseID == 0 {
		return nil
	}
	dead, err := v.Dead(ctx)
	if err != nil {
		return err
	}
	own, err := db.Collect(ctx, in, db.Scalar[string], `SELECT product_id FROM release_place WHERE release_id = $1`, v.Release.ID)
	if err != nil {
		return err
	}
	for _, id := range own {
		ids[id] = true
	}
	return store.Chunked(dead, 512, func(places []uint32) error {
		below, err := v.ProductIDs(ctx, places)
		for _, id := range below {
			ids[id] = true
		}
		return err
	})
}

// versions returns the versions of several products. It leaves out unknown ids.
func versions(ctx context.Context, v *release.View, ids []string) (map[string]servedVersion, error) {
	found, err := v.PlacesByID(ctx, ids, nil)
	if err != nil {
		return nil, err
	}
	places := segment.Ordered(found)
	hashes, err := v.KeysAt(ctx, segment.SortVersion, places)
	if err != nil {
		return nil, err
	}
	published, err := v.KeysAt(ctx, segment.SortPublished, places)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]servedVersion, len(found))
	for id, place := range found {
		at, _ := slices.BinarySearch(places, uint32(place))
		byID[id] = servedVersion{hashes[at], cmp.Or(published[at], v.Release.HolderIdentity(int(place)).Published)}
	}
	return byID, nil
}
