package publish

import (
	"context"
	"database/sql"
	"slices"

	"portico/store/db"
	"portico/store/release/segment"
)

// arrange decides which products are in the release, and their ordinals.
func (p *publicationPlan) arrange(ctx context.Context) error {
	if p.delta != nil {
		if small, err := p.arrangeDelta(ctx); err != nil || small {
			return err
		}
		p.delta = nil
	}
	if err := p.products(ctx); err != nil {
		return err
	}
	if err := p.attachments(ctx); err != nil {
		return err
	}
	p.relations()
	p.placeAll(p.included())
	return nil
}

// placeAll gives the products of a whole release their ordinals: the last
// updated first, then by id.
func (p *publicationPlan) placeAll(included []uint32) {
	p.order, p.kept = included, len(included)
	p.sortByUpdate(p.order)
	p.ordinals = slices.Repeat([]int32{-1}, p.ids.Len())
	for ordinal, handle := range p.order {
		p.ordinals[handle] = int32(ordinal)
	}
}

// products gives every live product its handle, by id, and notes what it refers to.
func (p *publicationPlan) products(ctx context.Context) error {
	scan := func(rows *sql.Rows) ([]any, *liveProduct, error) {
		live, err := scanLive(rows)
		return []any{live.id}, live, err
	}
	return db.EachPage(ctx, p.in, liveProducts, liveColumns, []string{"id"}, scan, func(products []*liveProduct) error {
		for _, live := range products {
			p.add(live)
		}
		return nil
	})
}

// attachments reads which live products are attached to which node, of all nodes at
// once: one by one they would take a statement each.
func (p *publicationPlan) attachments(ctx context.Context) error {
	p.attached, p.curated = map[string][]uint32{}, map[string][]uint32{}
	scan := func(rows *sql.Rows) ([]any, attachment, error) {
		a := attachment{node: -1} // for a row that is not of the catalog, or of a product that is not live
		var nodeID, id string
		err := rows.Scan(&nodeID, &a.attached, &id)
		if node := p.tree.ByID[nodeID]; node != nil && node.Kind == segment.KindNode {
			if handle, live := p.ids.Find(id); live {
				a.handle, a.node = handle, int32(node.Place)
			}
		}
		return []any{nodeID, a.attached, id}, a, err
	}
	if err := db.EachPage(ctx, p.in, "node_product", "node_id, attached, product_id", []string{"node_id", "attached", "product_id"}, scan, func(list []attachment) error {
		for _, a := range list {
			if a.node >= 0 {
				p.attach(a)
			}
		}
		return nil
	}); err != nil {
		return err
	}
	for _, node := range p.tree.Nodes {
		p.curate(node, p.attached[node.ID])
	}
	p.sortAttachments()
	return nil
}

// included returns the attached products and all that they refer to.
func (p *publicationPlan) included() (handles []uint32) {
	included := make([]bool, p.ids.Len())
	var waiting []uint32
	add := func(handle uint32) {
		if !included[handle] {
			included[handle] = true
			waiting = append(waiting, handle)
		}
	}
	for _, a := range p.nodesOf {
		add(a.handle)
	}
	for len(waiting) > 0 {
		handle := waiting[len(waiting)-1]
		waiting = waiting[:len(waiting)-1]
		handles = append(handles, handle)
		if parent := p.parents[handle]; parent >= 0 {
			add(uint32(parent))
		}
		for _, child := range p.children.Of(handle) {
			add(child)
		}
		for _, component := range p.components.Of(handle) {
			add(component)
		}
	}
	return handles
}
