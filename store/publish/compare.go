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
		found, err := versions(ctx, w.plan.in, w.served, ids)
		for id, version := range found {
			if handle, live := w.plan.ids.Find(id); live {
				w.before[handle] = version
			}
		}
		return err
	})
}

func (w *releaseWriter) readAllServed(ctx context.Context) error {
	dead, err := w.served.Dead(ctx)
	if err != nil {
		return err
	}
	type product struct {
		id      string
		ordinal uint32
		servedVersion
	}
	scan := func(rows *sql.Rows) ([]any, product, error) {
		var p product
		err := rows.Scan(&p.id, &p.ordinal, &p.version, &p.published)
		return []any{p.ordinal}, p, err
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
			w.before[handle] = servedVersion{p.version, cmp.Or(p.published, w.served.Release.HolderIdentity(int(p.ordinal)).Published)}
		}
		return nil
	}
	for _, layer := range store.Unique(w.served.Layers()) { // one by one, so that each is read in the order of its key
		of := []db.Condition{{Clause: "release_id = ?", Values: []any{layer}}}
		if err := db.EachPageWhere(ctx, w.plan.in, "release_product", of, "product_id, ordinal, version, published_at", []string{"ordinal"}, scan, note); err != nil {
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
// findChanges uses.
func (w *releaseWriter) differ(id string) {
	if len(w.differing) <= maxDiffering {
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
		before, err := versions(ctx, w.service.db.Reader, served, ids)
		if err != nil {
			return err
		}
		now, err := versions(ctx, w.service.db.Reader, own, ids)
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
	own, err := db.Collect(ctx, in, db.Scalar[string], `SELECT product_id FROM release_product WHERE release_id = $1`, v.Release.ID)
	if err != nil {
		return err
	}
	for _, id := range own {
		ids[id] = true
	}
	return store.Chunked(dead, 512, func(places []uint32) error {
		list, args := db.InList([]any{v.Release.BaseID}, places)
		below, err := db.Collect(ctx, in, db.Scalar[string],
			`SELECT product_id FROM release_product WHERE release_id = $1 AND ordinal IN (`+list+`)`, args...)
		for _, id := range below {
			ids[id] = true
		}
		return err
	})
}

// versions returns the versions of several products. It leaves out unknown ids.
func versions(ctx context.Context, in db.Session, v *release.View, ids []string) (map[string]servedVersion, error) {
	places, err := v.PlacesByID(ctx, ids)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	byID := make(map[string]servedVersion, len(places))
	list, args := db.InList(v.Layers(), segment.Ordered(places))
	_, err = db.Collect(ctx, in, func(rows *sql.Rows) (version servedVersion, err error) {
		var id string
		var ordinal int
		err = rows.Scan(&id, &ordinal, &version.version, &version.published)
		version.published = cmp.Or(version.published, v.Release.HolderIdentity(ordinal).Published)
		byID[id] = version
		return version, err
	}, `SELECT product_id, ordinal, version, published_at FROM release_product WHERE release_id IN ($1, $2) AND ordinal IN (`+list+`)`, args...)
	return byID, err
}
