package publish

import (
	"context"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// findBase decides whether the release can be a delta, and sets its base: the
// served release or the base of that. There is none if not all changes are known,
// if more than products, prices and files changed, or if a file was deleted.
func (p *publicationPlan) findBase(ctx context.Context, s *PublishService, locale string) error {
	if p.served == 0 || s.whole {
		return nil
	}
	base, err := segment.KeptRelease(ctx, p.in, p.served)
	if err == nil && base.BaseID != 0 {
		base, err = segment.KeptRelease(ctx, p.in, base.BaseID)
	}
	if err != nil || base.Format != segment.ReleaseFormat || base.Locale != locale {
		return ignoreNotFound(err)
	}
	changes, complete, err := authoring.ChangedSince(ctx, p.in, base.Revision)
	if err != nil || !complete || len(changes["price_modifier"])+len(changes["attribute"]) > 0 || slices.Contains(changes["catalog"], base.CatalogID) {
		return err
	}
	for _, ranked := range p.ranked {
		if slices.Contains(changes["pricebook"], ranked.ID) {
			return nil
		}
	}
	if deleted, err := p.anyDeleted(ctx, "file", changes["file"]); err != nil || deleted {
		return err
	}
	view := release.ViewOf(s.releases, base)
	p.delta = &delta{base: base, changes: changes, view: view.Ahead()}
	return nil
}

// anyDeleted reports whether a table lacks one of ids.
func (p *publicationPlan) anyDeleted(ctx context.Context, table string, ids []string) (bool, error) {
	found, err := db.CollectIn(ctx, p.in, db.Scalar[string], ids, `SELECT id FROM `+table+` WHERE id IN ($in)`)
	return len(found) < len(ids), err
}

// arrangeDelta decides which products a delta holds, and their ordinals. It
// returns false and leaves the plan unchanged when too much differs.
func (p *publicationPlan) arrangeDelta(ctx context.Context) (small bool, err error) {
	d := p.delta
	if max(len(d.changes["product"]), len(d.changes["price"])) > d.most(d.base.Products) {
		return false, nil
	}
	if err := p.findSeeds(ctx); err != nil {
		return false, err
	}
	near, err := p.explore(ctx)
	if err != nil {
		return false, err
	}
	own := near.own()
	d.dead = near.dead()
	if max(len(own), len(d.dead)) > d.most(d.base.Products+len(own)-len(d.dead)) {
		return false, nil
	}
	if err := near.surroundings(ctx, own); err != nil {
		return false, err
	}
	near.fill(own)
	return true, nil
}

// findSeeds finds the products that changed themselves: they were written or
// attached, their price or a missing file was written, or a node above them was
// moved or removed.
func (p *publicationPlan) findSeeds(ctx context.Context) error {
	d := p.delta
	d.seeds = make(map[string]bool, len(d.changes["product"]))
	for _, id := range d.changes["product"] {
		d.seeds[id] = true
	}
	for attribute, values := range map[string][]string{"sku": d.changes["price"], missingFile: d.changes["file"]} {
		if err := store.Chunked(values, 512, func(values []string) error {
			places, err := d.view.Indexed(ctx, attribute, values...)
			if err != nil {
				return err
			}
			return p.addSeeds(ctx, places)
		}); err != nil {
			return err
		}
	}
	before, err := d.view.Tree(ctx)
	if err != nil {
		return err
	}
	for _, node := range before.Nodes {
		if now := p.tree.ByID[node.ID]; now != nil && slices.Equal(now.Ancestors, node.Ancestors) {
			continue
		}
		list, err := d.view.List(ctx, segment.ListOfNode(node.ID))
		if err != nil {
			return err
		}
		members, err := list.Members(ctx)
		if err != nil {
			return err
		}
		if err := p.addSeeds(ctx, members); err != nil {
			return err
		}
	}
	for _, node := range p.tree.Nodes {
		if was := before.ByID[node.ID]; was == nil || !slices.Equal(was.Ancestors, node.Ancestors) {
			attached, err := db.Collect(ctx, p.in, db.Scalar[string], `SELECT product_id FROM node_product WHERE node_id = $1`, node.ID)
			if err != nil {
				return err
			}
			for _, id := range attached {
				d.seeds[id] = true
			}
		}
	}
	return nil
}

// addSeeds adds the products at some ordinals of the base.
func (p *publicationPlan) addSeeds(ctx context.Context, places index.Ordinals) error {
	return store.Chunked(places, 512, func(places []uint32) error {
		ids, err := p.delta.view.ProductIDs(ctx, places)
		for _, id := range ids {
			p.delta.seeds[id] = true
		}
		return err
	})
}
