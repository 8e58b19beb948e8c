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
		w.served = release.ViewOf(w.service.releases, served)
	}
	if d != nil {
		w.served = w.served.Ahead()
	} else {
		return w.readAllServed(ctx)
	}
	ids := map[string]bool{}
	for _, handle := range w.plan.order {
		ids[w.plan.ids.At(handle)] = true
	}
	for _, id := range d.gone {
		ids[id] = true
	}
	if err := idsIn(ctx, w.served, d.above, ids); err != nil {
		return err
	}
	w.beforeID = make(map[string]servedVersion, len(ids))
	return store.Chunked(sortedIDs(ids), 512, func(ids []string) error {
		found, err := versions(ctx, w.served, ids)
		for _, id := range ids {
			w.beforeID[id] = found[id] // zero for a product that is not shown
			if handle, live := w.plan.ids.Find(id); live {
				w.before[handle] = found[id]
			}
		}
		return err
	})
}

// readAllServed also notes the ordinals in the served release. Products of a release of another format
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
				w.differ(p.id, false, true)
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
	for _, layer := range served.Release.LayerIDs() { // one by one, so that each is read in the order of its key
		of := []db.Condition{{Clause: "release_id = ?", Values: []any{layer}}}
		if err := db.EachPageWhere(ctx, w.plan.in, "release_place", of, "product_id, ordinal", []string{"product_id"}, scan, note); err != nil {
			return err
		}
	}
	return nil
}

// compare counts the products that differ from the served release.
func (w *releaseWriter) compare(ctx context.Context) error {
	compare := w.compareWhole
	if w.plan.delta != nil {
		compare = w.compareDelta
	}
	if err := compare(ctx); err != nil || w.served == nil {
		return err
	}
	now, before := w.release, w.served.Release
	w.everything = before.Format != now.Format || before.Locale != now.Locale || !slices.Equal(before.Locales, now.Locales) || len(w.differing) > maxDiffering
	return nil
}

func (w *releaseWriter) compareWhole(context.Context) error {
	for ordinal, handle := range w.plan.order {
		if was := w.before[handle]; was.version != w.versions[ordinal] {
			w.differ(w.plan.ids.At(handle), true, was.published != 0)
		}
	}
	return nil
}

// compareDelta compares the products of a delta, the dead ones, and those of the served release's layers above the parent.
// All others are the same in both.
func (w *releaseWriter) compareDelta(ctx context.Context) error {
	own := make(map[string]int64, len(w.plan.order))
	for i, handle := range w.plan.order {
		own[w.plan.ids.At(handle)] = w.versions[i]
	}
	var others []string // of the layers above the parent
	for _, id := range sortedIDs(w.beforeID) {
		if _, is := own[id]; !is && !isIn(w.plan.delta.gone, id) {
			others = append(others, id)
		}
	}
	inParent, err := w.inParent(ctx, others)
	if err != nil {
		return err
	}
	for _, id := range sortedIDs(w.beforeID) {
		was := w.beforeID[id]
		is, isThere := own[id]
		if !isThere {
			is, isThere = inParent[id]
		}
		if is != was.version {
			w.differ(id, isThere, was.published != 0)
		}
	}
	return nil
}

// inParent returns the versions of products that a delta has from its parent.
func (w *releaseWriter) inParent(ctx context.Context, ids []string) (map[string]int64, error) {
	d, alive := w.plan.delta, map[string]int64{}
	return alive, store.Chunked(ids, 512, func(ids []string) error {
		places, err := d.view.PlacesByID(ctx, ids, nil)
		if err != nil {
			return err
		}
		found, err := versions(ctx, d.view, ids)
		for id, place := range places {
			if _, dead := slices.BinarySearch(d.dead, uint32(place)); !dead {
				alive[id] = found[id].version
			}
		}
		return err
	})
}

// ownView returns a view of the new release, which caches nothing: its cache
// identity is not known before it is published.
func (w *releaseWriter) ownView() *release.View { return release.Uncached(w.served, w.release) }

// servedView returns a view of the served release, which for a whole release caches nothing.
func (w *releaseWriter) servedView() *release.View {
	if w.plan.delta != nil {
		return w.served
	}
	return release.Uncached(w.served, w.served.Release)
}

// maxDiffering is the largest number of products that findChanges names one by
// one. Each has up to five keys.
const maxDiffering = dependency.MaxChanges / 5

// differ records that a product differs: whether it is in the new release, and was in the served one. It keeps the ids of
// so many products as findChanges uses.
func (w *releaseWriter) differ(id string, is, was bool) {
	switch {
	case !was:
		w.release.Added++
	case !is:
		w.release.Removed++
	default:
		w.release.Changed++
		w.changed = append(w.changed, id)
	}
	if w.dryRun {
		w.effects[id] = effectOf(is, was)
	}
	if len(w.differing) <= maxDiffering {
		w.differing = append(w.differing, id)
	}
}

// idsIn adds the ids of the products of some layers of a release, and of those of the layers below that they replace or
// do not have.
func idsIn(ctx context.Context, v *release.View, layers []segment.Layer, ids map[string]bool) error {
	if len(layers) == 0 {
		return nil
	}
	all, err := v.AllIDs(ctx)
	if err != nil {
		return err
	}
	for _, layer := range layers {
		for ordinal := layer.First; ordinal < layer.End; ordinal++ {
			ids[all.At(uint32(ordinal))] = true
		}
	}
	dead, err := v.DeadIn(ctx, layers)
	for _, ordinal := range dead {
		ids[all.At(ordinal)] = true
	}
	return err
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

// isIn reports whether a text is in a list in order.
func isIn(list []string, text string) bool {
	_, found := slices.BinarySearch(list, text)
	return found
}
