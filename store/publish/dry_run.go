package publish

import (
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/release/segment"
)

// DryRun returns what a publication of a catalog would change now, and writes nothing. It reads as much as the
// publication: for many changes all products, else only those that changed. most bounds the list, not the counts.
// NOT_FOUND for an unknown catalog.
func (s *PublishService) DryRun(ctx context.Context, catalogID string, most int, progress PublishProgress) (differences *Differences, err error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	made, err := s.newRelease(ctx, catalogID)
	if err != nil {
		return nil, err
	}
	err = s.db.RenewableSnapshot(ctx, func(snapshot *db.Snapshot) error {
		plan, err := s.planRelease(ctx, snapshot, made)
		if err != nil {
			return err
		}
		plan.renew = func(context.Context) error { return nil } // what is described must be what was compared
		side := &plannedSide{plan: plan, made: made}
		side.w = newReleaseWriter(s, "", plan, made)
		side.w.dryRun = true
		differences, err = side.compare(ctx, most, progress)
		return err
	})
	return differences, err
}

// plannedSide is the release that a publication would make.
type plannedSide struct {
	plan *publicationPlan
	made *segment.Release
	w    *releaseWriter // compares with the served release
}

func (p *plannedSide) compare(ctx context.Context, most int, progress PublishProgress) (*Differences, error) {
	if err := p.w.readServed(ctx); err != nil {
		return nil, err
	}
	c := &comparison{now: p}
	if p.w.served != nil {
		c.before = p.w.service.storedSide(p.w.served.Release)
	}
	var err error
	if c.fileIDs, err = p.readFiles(ctx); err != nil {
		return nil, err
	}
	built, err := p.versions(ctx, progress)
	if err != nil {
		return nil, err
	}
	if p.plan.delta != nil {
		c.products, err = p.differingOfDelta(ctx, built)
	} else {
		c.products, err = p.differingOfWhole(ctx, built)
	}
	if err != nil {
		return nil, err
	}
	return c.differences(ctx, most)
}

// versions builds the products of the plan and returns their versions, in their order.
func (p *plannedSide) versions(ctx context.Context, progress PublishProgress) ([]int64, error) {
	built := make([]int64, 0, len(p.plan.order))
	return built, store.Chunked(p.plan.order, publishBatch, func(order []uint32) error {
		products, err := p.plan.build(ctx, p.made, order)
		for _, product := range products {
			built = append(built, product.version)
		}
		progress(len(built), len(p.plan.order))
		return err
	})
}

// differingOfWhole returns how the products differ from the served release.
func (p *plannedSide) differingOfWhole(ctx context.Context, built []int64) (map[string]PendingEffect, error) {
	p.w.versions = built
	if err := p.w.compare(ctx); err != nil {
		return nil, err
	}
	effects := make(map[string]PendingEffect, len(p.w.differing))
	for _, id := range p.w.differing {
		handle, live := p.plan.ids.Find(id)
		effects[id] = effectOf(live && p.plan.ordinals[handle] >= 0, !live || p.plan.ordinals[handle] < 0 || p.w.before[handle].published != 0)
	}
	return effects, nil
}

// differingOfDelta is differingOfWhole for a delta, which builds only some products. The others are as in its base.
func (p *plannedSide) differingOfDelta(ctx context.Context, built []int64) (map[string]PendingEffect, error) {
	d, served := p.plan.delta, p.w.served
	ids, own := map[string]bool{}, map[string]int64{}
	for i, handle := range p.plan.order {
		id := p.plan.ids.At(handle)
		ids[id], own[id] = true, built[i]
	}
	if err := differing(ctx, p.w.service.db.Reader, served, ids); err != nil {
		return nil, err
	}
	if err := store.Chunked(d.dead, 512, func(places []uint32) error {
		below, err := d.view.ProductIDs(ctx, places)
		for _, id := range below {
			ids[id] = true
		}
		return err
	}); err != nil {
		return nil, err
	}
	effects := map[string]PendingEffect{}
	return effects, store.Chunked(sortedIDs(ids), 512, func(ids []string) error {
		before, err := versions(ctx, served, ids)
		if err != nil {
			return err
		}
		inBase, err := p.inBase(ctx, ids)
		if err != nil {
			return err
		}
		for _, id := range ids {
			was, wasThere := before[id]
			is, isThere := own[id]
			if !isThere {
				is, isThere = inBase[id]
			}
			if wasThere != isThere || was.version != is {
				effects[id] = effectOf(isThere, wasThere)
			}
		}
		return nil
	})
}

// inBase returns the versions of products that the delta has from its base.
func (p *plannedSide) inBase(ctx context.Context, ids []string) (map[string]int64, error) {
	d := p.plan.delta
	places, err := d.view.PlacesByID(ctx, ids, nil)
	if err != nil {
		return nil, err
	}
	found, err := versions(ctx, d.view, ids)
	if err != nil {
		return nil, err
	}
	alive := map[string]int64{}
	for id, place := range places {
		if _, dead := slices.BinarySearch(d.dead, uint32(place)); !dead {
			alive[id] = found[id].version
		}
	}
	return alive, nil
}

func (p *plannedSide) release() *segment.Release { return p.made }

func (p *plannedSide) tree(context.Context) (*segment.Tree, error) { return p.plan.tree, nil }

func (p *plannedSide) attributes(context.Context) (segment.Attributes, error) {
	return p.plan.attributes, nil
}

func (p *plannedSide) curated(ctx context.Context, nodes []*segment.CatalogNode) (map[string][]string, error) {
	d, found := p.plan.delta, map[string][]string{}
	if d != nil { // the lists that the delta leaves as they are
		var err error
		if found, err = curatedIn(ctx, d.view, nodes); err != nil {
			return nil, err
		}
	}
	for _, node := range nodes {
		if d != nil && !d.curated[node.ID] {
			continue
		}
		found[node.ID] = nil
		for _, handle := range p.plan.curated[node.ID] {
			found[node.ID] = append(found[node.ID], p.plan.ids.At(handle))
		}
	}
	return found, nil
}

// shown builds the products that the plan builds, and reads the others from the base.
func (p *plannedSide) shown(ctx context.Context, ids []string) (map[string]*shownProduct, error) {
	found := make(map[string]*shownProduct, len(ids))
	var order []uint32
	var below []string
	for _, id := range ids {
		handle, live := p.plan.ids.Find(id)
		if live && int(p.plan.ordinals[handle]) >= p.plan.first {
			order = append(order, handle)
		} else if p.plan.delta != nil {
			below = append(below, id)
		}
	}
	products, err := p.plan.build(ctx, p.made, order)
	if err != nil {
		return nil, err
	}
	for _, product := range products {
		b := product.stored
		t := &productTexts{custom: string(b.Attributes), offers: b.Offers, crumbs: string(b.Crumbs), documents: map[string]string{}, extras: map[string]string{}}
		for language, document := range b.Documents {
			t.documents[language], t.extras[language] = string(document), string(b.Extras[language])
		}
		if found[b.ID], err = t.show(b.ID); err != nil {
			return nil, err
		}
	}
	if len(below) == 0 {
		return found, nil
	}
	alive, err := p.inBase(ctx, below)
	if err != nil || len(alive) == 0 {
		return found, err
	}
	inBase, err := p.w.service.storedSide(p.plan.delta.base).shown(ctx, sortedIDs(alive))
	for id, product := range inBase {
		found[id] = product
	}
	return found, err
}

// readFiles gives the plan the files that exist, as a publication does, and returns the ids of those that may differ
// from the served release: all, or for a delta those written since and those of the served delta.
func (p *plannedSide) readFiles(ctx context.Context) (ids []string, err error) {
	if d := p.plan.delta; d != nil {
		if p.w.served.Release.BaseID == 0 {
			return d.changes["file"], nil
		}
		own, err := db.Collect(ctx, p.plan.in, db.Scalar[string], `SELECT file_id FROM release_file WHERE release_id = $1`, p.w.served.Release.ID)
		return slices.Concat(d.changes["file"], own), err
	}
	if p.w.served != nil {
		if ids, err = db.Collect(ctx, p.plan.in, db.Scalar[string], `SELECT DISTINCT file_id FROM release_file WHERE release_id IN ($1, $2)`, p.w.served.Layers()...); err != nil {
			return nil, err
		}
	}
	scan := func(rows *sql.Rows) ([]any, string, error) {
		var id string
		err := rows.Scan(&id)
		return []any{id}, id, err
	}
	return ids, db.EachPage(ctx, p.plan.in, "file", "id", []string{"id"}, scan, func(some []string) error {
		for _, id := range some {
			p.plan.files.Add(id)
		}
		ids = append(ids, some...)
		return nil
	})
}

func (p *plannedSide) files(ctx context.Context, ids []string) (map[string]string, error) {
	list, args := db.InList(nil, ids)
	found, err := db.Collect(ctx, p.plan.in, scanReleasedFile, `SELECT id, body FROM file WHERE id IN (`+list+`)`, args...)
	texts := make(map[string]string, len(found))
	for _, f := range found {
		texts[f.id] = string(f.body)
	}
	return texts, err
}
