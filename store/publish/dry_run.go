package publish

import (
	"context"
	"database/sql"

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
		plan, err := s.planRelease(ctx, snapshot, made, publication{})
		if err != nil {
			return err
		}
		plan.renew = func(context.Context) error { return nil } // what is described must be what was compared
		side := &plannedSide{plan: plan, made: made}
		side.w = newReleaseWriter(s, "", plan, made)
		side.w.dryRun, side.w.effects = true, map[string]PendingEffect{}
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
	if p.w.versions, err = p.versions(ctx, progress); err != nil {
		return nil, err
	}
	if err := p.w.compare(ctx); err != nil {
		return nil, err
	}
	c.products = p.w.effects
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

// shown builds the products that the plan builds, and reads the others from the parent.
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
	alive, err := p.w.inParent(ctx, below)
	if err != nil || len(alive) == 0 {
		return found, err
	}
	inParent, err := p.w.service.storedSide(p.plan.delta.parent).shown(ctx, sortedIDs(alive))
	for id, product := range inParent {
		found[id] = product
	}
	return found, err
}

// readFiles gives the plan the files that exist, as a publication does, and returns the ids of those that may differ
// from the served release: all, or for a delta those of fileCandidates.
func (p *plannedSide) readFiles(ctx context.Context) (ids []string, err error) {
	if p.plan.delta != nil {
		return p.w.fileCandidates(ctx)
	}
	if p.w.served != nil {
		if ids, err = fileIDsIn(ctx, p.plan.in, p.w.served.Release.Layers()); err != nil {
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
