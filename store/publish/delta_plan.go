package publish

import (
	"context"
	"slices"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/segment"
)

// findParent decides whether the release can be a delta, and sets p.delta with its parent; nil for a whole release. It is whole
// if nothing is served, if not all changes are known, or if the parent has another format or base language. So it is if a
// price modifier, an attribute, the catalog or one of its price books was written, or a file was deleted.
func (p *publicationPlan) findParent(ctx context.Context, s *Service, locale string) error {
	if p.served == 0 || s.whole {
		return nil
	}
	served, base, err := segment.WithUnservedBase(ctx, p.in, p.served)
	if err != nil {
		return ignoreNotFound(err)
	}
	p.servedRelease = served
	d, err := p.parentOf(ctx, s, served, base)
	if err != nil || d == nil || d.parent.Format != segment.ReleaseFormat || d.parent.Locale != locale {
		return ignoreNotFound(err)
	}
	changes := d.changes
	if len(changes["price_modifier"])+len(changes["attribute"]) > 0 || slices.Contains(changes["catalog"], d.parent.CatalogID) {
		return nil
	}
	for _, ranked := range p.ranked {
		if slices.Contains(changes["pricebook"], ranked.ID) {
			return nil
		}
	}
	if deleted, err := p.anyDeleted(ctx, "file", changes["file"]); err != nil || deleted {
		return err
	}
	d.view = s.releases.ViewOf(d.parent).Ahead()
	p.delta = d
	return nil
}

// parentOf returns a delta with its parent and the changes since that: the unserved base if there is one that the served
// release or an earlier one equals, else the served release or one below it. nil if not all changes are known.
func (p *publicationPlan) parentOf(ctx context.Context, s *Service, served, base *segment.Release) (*delta, error) {
	layers := served.Layers()
	since := func(d *delta) (*delta, error) {
		changes, complete, err := authoring.ChangedSince(ctx, p.in, d.parent.Revision)
		if d.changes = changes; err != nil || !complete {
			return nil, err
		}
		return d, nil
	}
	if base.Replaces(served) {
		d := &delta{parent: base}
		for _, layer := range layers {
			if layer.ID > base.Equal {
				d.above = append(d.above, layer)
			}
		}
		return since(d)
	}
	d, err := since(&delta{parent: served})
	if err != nil || d == nil {
		return nil, err
	}
	kept := keptLayers(layers, len(d.changes["product"])+len(d.changes["price"])+len(d.changes["file"]), s.factor)
	if p.onBase {
		kept = 1
	}
	if kept == len(layers) {
		return d, nil
	}
	parent, err := segment.LayerByID(ctx, p.in, layers[kept-1].ID)
	if err != nil {
		return nil, err
	}
	return since(&delta{parent: parent, above: layers[kept:]})
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
	if max(len(d.changes["product"]), len(d.changes["price"])) > d.most(d.parent.Products) {
		return false, nil
	}
	if err := p.findSeeds(ctx); err != nil {
		return false, err
	}
	affected, err := p.explore(ctx)
	if err != nil {
		return false, err
	}
	own := affected.own()
	d.dead, d.gone = affected.dead()
	if max(len(own), len(d.dead)) > d.most(d.parent.Products+len(own)-len(d.dead)) {
		return false, nil
	}
	if err := affected.surroundings(ctx, own); err != nil {
		return false, err
	}
	affected.fill(own)
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
			ordinals, err := d.view.Indexed(ctx, attribute, values...)
			if err != nil {
				return err
			}
			return p.addSeeds(ctx, ordinals)
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
	var moved []string
	for _, node := range p.tree.Nodes {
		if was := before.ByID[node.ID]; was == nil || !slices.Equal(was.Ancestors, node.Ancestors) {
			moved = append(moved, node.ID)
		}
	}
	attached, err := db.CollectIn(ctx, p.in, db.Scalar[string], moved, `SELECT product_id FROM node_product WHERE node_id IN ($in)`)
	for _, id := range attached {
		d.seeds[id] = true
	}
	return err
}

// addSeeds adds the products at some ordinals of the parent.
func (p *publicationPlan) addSeeds(ctx context.Context, ordinals index.Ordinals) error {
	return store.Chunked(ordinals, 512, func(ordinals []uint32) error {
		ids, err := p.delta.view.ProductIDs(ctx, ordinals)
		for _, id := range ids {
			p.delta.seeds[id] = true
		}
		return err
	})
}
