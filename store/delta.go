package store

import (
	"context"
	"database/sql"
	"slices"
	"strings"
)

// A delta is a release that keeps only what differs from its base, a whole
// release of the same catalog: products that are new or different stand at
// ordinals of their own, behind all of the base's, and those of the base that
// they replace, or that are gone, are dead. What the two hold together is read
// as if it were one (layer.go). Every delta is worked out against the base, so
// that there are never more than two layers; when too much differs, the next
// release is whole again, and a base.
type delta struct {
	base    *Release
	view    *View               // of the base
	changes map[string][]string // ids written since, by table
	seeds   map[string]bool     // ids of products that something of their own changed of
	dirty   []bool              // by handle: is built anew

	places  []int32 // handles to ordinals of the base, or -1
	handles []int32 // and back
	idKeys  []int64 // sort keys, by handle
}

// releaseFormat is what documents, lists, sort keys and indexes are made like.
// Raise it with every change of those: a release of another format is no base,
// and is published anew, even where nothing else changed. Until then it is read
// as it is.
const (
	releaseFormat     = 3
	formatOfSyllables = 2 // from which on runs are indexed by syllables (search_run.go)
	formatOfPresence  = 3 // from which on documents leave out what is told by presence (withoutEmpty), and every product and shown file is listed
)

// deltaShare and deltaLeast say when a release is whole again: when more than
// that part of its products, and more than so many, are not as in the base.
const (
	deltaShare = 8
	deltaLeast = 100
)

// rankStep lies between the sort keys of two neighbours by rank in a whole
// release, so that deltas can put others in between.
const rankStep = 1 << 32

// most is how many of so many products can differ from the base.
func (d *delta) most(products int) int { return max(deltaLeast, products/deltaShare) }

// findBase decides whether the release can be a delta, and of which base: the
// one that is served, or that one's own. Where changes are not all known, or
// go beyond products, prices and files, there is none.
func (p *plan) findBase(ctx context.Context, s *Store, locale string) error {
	if p.served == 0 || s.config.WholeReleases {
		return nil
	}
	base, err := keptRelease(ctx, p.in, p.served)
	if err == nil && base.BaseID != 0 {
		base, err = keptRelease(ctx, p.in, base.BaseID)
	}
	if err != nil || base.format != releaseFormat || base.Locale != locale {
		return ignoreNotFound(err)
	}
	changes, complete, err := changedSince(ctx, p.in, base.Revision)
	if err != nil || !complete || len(changes["price_modifier"]) > 0 || slices.Contains(changes["catalog"], base.CatalogID) {
		return err
	}
	for _, ranked := range p.ranked {
		if slices.Contains(changes["pricebook"], ranked.ID) {
			return nil
		}
	}
	p.delta = &delta{base: base, changes: changes, view: &View{Release: base, store: s, cache: s.cache, memo: &treeMemo{}, valid: &validity{}, now: s.now()}}
	return nil
}

func ignoreNotFound(err error) error {
	if HasCode(err, NotFound) {
		return nil
	}
	return err
}

// placeDelta leaves the products that are as in the base where they stand
// there, and gives the others ordinals behind them. It is false when there are
// too many others.
func (p *plan) placeDelta(included []uint32) bool {
	d := p.delta
	p.ordinals = slices.Repeat([]int32{-1}, p.ids.len())
	standing := 0
	p.order = nil
	for _, handle := range included {
		if at := d.places[handle]; at >= 0 && !d.dirty[handle] {
			p.ordinals[handle] = at
			standing++
		} else {
			p.order = append(p.order, handle)
		}
	}
	if max(len(p.order), d.base.Products-standing) > d.most(len(included)) {
		return false
	}
	p.kept, p.first = len(included), (d.base.ordinals+chunkSize-1)/chunkSize*chunkSize
	p.sortByUpdate(p.order)
	for i, handle := range p.order {
		p.ordinals[handle] = int32(p.first + i)
	}
	return true
}

// dead are the base's products that the delta replaces or does not hold.
func (p *plan) dead() ordinals {
	list := ordinals{}
	for at, handle := range p.delta.handles {
		if handle < 0 || int(p.ordinals[handle]) != at {
			list = append(list, uint32(at))
		}
	}
	return list
}

// basePlaces finds the live products in the base, and gives each its sort key
// by id: that of the base, or one in between.
//
// Where too much was written for a delta, there is none from here on.
func (p *plan) basePlaces(ctx context.Context) error {
	d := p.delta
	if d != nil && max(len(d.changes["product"]), len(d.changes["price"])) > d.most(p.ids.len()) {
		p.delta = nil
	}
	if p.delta == nil {
		return nil
	}
	d.places, d.handles = slices.Repeat([]int32{-1}, p.ids.len()), slices.Repeat([]int32{-1}, d.base.ordinals)
	d.idKeys, d.dirty = make([]int64, p.ids.len()), make([]bool, p.ids.len())
	ids, err := d.view.allKeys(ctx, SortID)
	if err != nil {
		return err
	}
	handle, last := uint32(0), int64(-rankStep)
	between := func(isBelow func(id string) bool) {
		for ; int(handle) < p.ids.len() && isBelow(p.ids.at(handle)); handle++ {
			last++
			d.idKeys[handle] = last
		}
	}
	type row struct {
		id    string
		place int32
	}
	scan := func(rows *sql.Rows) ([]any, row, error) {
		var r row
		err := rows.Scan(&r.id, &r.place)
		return []any{r.id}, r, err
	}
	of := []within{{"release_id = ?", []any{d.base.ID}}}
	err = pagesOf(ctx, p.in, "release_place", of, "product_id, ordinal", []string{"product_id"}, scan, func(rows []row) error {
		for _, r := range rows {
			between(func(id string) bool { return id < r.id })
			last = ids.at(uint32(r.place))
			if int(handle) < p.ids.len() && p.ids.at(handle) == r.id {
				d.places[handle], d.handles[r.place], d.idKeys[handle] = r.place, int32(handle), last
				handle++
			}
		}
		return nil
	})
	between(func(string) bool { return true })
	return err
}

// findSeeds finds the products of which something of their own changed: they
// were written or attached, their price was, a file that they miss came, or a
// node above them was moved or removed.
func (p *plan) findSeeds(ctx context.Context) error {
	d := p.delta
	if d == nil {
		return nil
	}
	d.seeds = make(map[string]bool, len(d.changes["product"]))
	add := func(places ordinals) {
		for _, at := range places {
			if handle := d.handles[at]; handle >= 0 {
				d.seeds[p.ids.at(uint32(handle))] = true
			}
		}
	}
	for _, id := range d.changes["product"] {
		d.seeds[id] = true
	}
	for attribute, values := range map[string][]string{"sku": d.changes["price"], missingFile: d.changes["file"]} {
		if err := chunked(values, 512, func(values []string) error {
			places, err := d.view.indexed(ctx, attribute, values...)
			add(places)
			return err
		}); err != nil {
			return err
		}
	}
	before, err := d.view.tree(ctx)
	if err != nil {
		return err
	}
	for _, node := range before.nodes {
		if now := p.tree.byID[node.ID]; now != nil && slices.Equal(now.Ancestors, node.Ancestors) {
			continue
		}
		head, err := d.view.listHead(ctx, listOfNode(node.ID))
		if err != nil {
			return err
		}
		a := &arrangement{View: d.view, list: listOfNode(node.ID), head: head}
		members, err := a.members(ctx)
		if err != nil {
			return err
		}
		add(members)
	}
	for _, node := range p.tree.nodes {
		if was := before.byID[node.ID]; was == nil || !slices.Equal(was.Ancestors, node.Ancestors) {
			for _, handle := range p.attached[node.ID] {
				d.seeds[p.ids.at(handle)] = true
			}
		}
	}
	return p.formerParents(ctx)
}

// formerParents marks the products that show a seed as their child in the
// base, and may do so no longer.
func (p *plan) formerParents(ctx context.Context) error {
	seeds := make([]string, 0, len(p.delta.seeds))
	for id := range p.delta.seeds {
		seeds = append(seeds, id)
	}
	slices.Sort(seeds)
	return chunked(seeds, 512, func(ids []string) error {
		found, err := p.delta.view.ProductsByID(ctx, ids)
		for _, product := range found {
			if handle, live := p.ids.find(product.ParentID()); live {
				p.delta.dirty[handle] = true
			}
		}
		return err
	})
}

// markDirty has the seeds built anew, the products that refer to one, as to
// their parent or a component, and the parents of seeds, which show their
// children.
func (p *plan) markDirty() {
	if p.delta == nil {
		return
	}
	d := p.delta
	isSeed := func(id string) bool { return d.seeds[id] }
	for id := range d.seeds {
		if handle, live := p.ids.find(id); live {
			d.dirty[handle] = true
			if parent := p.parents[handle]; parent >= 0 {
				d.dirty[parent] = true
			}
		}
	}
	for _, r := range p.related {
		if isSeed(r.parent) || slices.ContainsFunc(strings.Fields(r.components), isSeed) {
			d.dirty[r.handle] = true
		}
	}
}
