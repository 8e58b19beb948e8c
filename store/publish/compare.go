package publish

import (
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/release"
	"portico/store/release/segment"
)

// compare counts the products that differ from the served release.
func (w *releaseWriter) compare(ctx context.Context) error {
	if w.plan.served == 0 {
		w.release.Added = w.plan.kept
		return nil
	}
	served, err := segment.KeptRelease(ctx, w.plan.in, w.plan.served)
	if err != nil {
		return err
	}
	w.served = release.ViewOf(w.service.releases, served)
	if w.plan.delta != nil {
		return w.compareDelta(ctx, w.served)
	}
	return w.compareAll(ctx, w.served)
}

// productVersion is a hash of what a release shows of a product.
type productVersion struct {
	id      string
	ordinal uint32
	version int64
}

func scanVersion(rows *sql.Rows) (p productVersion, err error) {
	return p, rows.Scan(&p.id, &p.ordinal, &p.version)
}

// compareAll compares a whole release with another.
func (w *releaseWriter) compareAll(ctx context.Context, served *release.View) error {
	r := w.release
	r.Added = w.plan.kept
	dead, err := served.Dead(ctx)
	if err != nil {
		return err
	}
	scan := func(rows *sql.Rows) ([]any, productVersion, error) {
		p, err := scanVersion(rows)
		return []any{p.ordinal}, p, err
	}
	count := func(products []productVersion) error {
		for _, old := range products {
			if _, isDead := slices.BinarySearch(dead, old.ordinal); isDead {
				continue
			}
			handle, live := w.plan.ids.Find(old.id)
			switch {
			case !live || w.plan.ordinals[handle] < 0:
				r.Removed++
				continue
			case w.versions[w.plan.ordinals[handle]] != old.version:
				r.Changed++
			}
			r.Added--
		}
		return nil
	}
	for _, layer := range store.Unique(served.Layers()) { // one by one, so that each is read in the order of its key
		of := []db.Condition{{Clause: "release_id = ?", Values: []any{layer}}}
		if err := db.EachPageWhere(ctx, w.plan.in, "release_product", of, "product_id, ordinal, version", []string{"ordinal"}, scan, count); err != nil {
			return err
		}
	}
	return nil
}

// compareDelta compares a delta with its base or with another delta of it.
// Products that are in neither delta are the same in both.
func (w *releaseWriter) compareDelta(ctx context.Context, served *release.View) error {
	own := release.Uncached(served, w.release) // its cache identity is not known before it is published
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
			case was != is:
				r.Changed++
			}
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
func versions(ctx context.Context, in db.Session, v *release.View, ids []string) (map[string]int64, error) {
	places, err := v.PlacesByID(ctx, ids)
	if err != nil || len(places) == 0 {
		return nil, err
	}
	list, args := db.InList(v.Layers(), segment.Ordered(places))
	products, err := db.Collect(ctx, in, scanVersion,
		`SELECT product_id, ordinal, version FROM release_product WHERE release_id IN ($1, $2) AND ordinal IN (`+list+`)`, args...)
	byID := make(map[string]int64, len(products))
	for _, p := range products {
		byID[p.id] = p.version
	}
	return byID, err
}
