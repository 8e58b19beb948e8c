package publish

import (
	"context"
	"maps"
	"slices"
	"strings"

	"portico/store"
	"portico/store/index"
	"portico/store/release"
	"portico/store/release/segment"
)

// affectedSet holds the products that a delta reads: those that changed, and those
// that they affect. It reads each kind of data for many products at once, and only
// once for each.
type affectedSet struct {
	plan           *publicationPlan
	live           map[string]*liveProduct // by id, here and below what was read; nil for a product that is not live
	children       map[string][]string     // live ones, by parent
	bundles        map[string][]string     // live bundles, by component
	attached       map[string][]attachment // to nodes of the catalog
	parentOrdinals map[string]int32        // ordinals in the parent release of the delta, or -1
	included       map[string]bool         // by isIncluded
	dirty          map[string]bool         // the parent release may show them wrong
}

// explore finds which products to build again, and which are in the release. From
// the seeds it visits the products that they refer to or referred to, and goes on
// from every product that came into the release or left it. No other product can
// come or go.
func (p *publicationPlan) explore(ctx context.Context) (*affectedSet, error) {
	v := &affectedSet{plan: p, live: map[string]*liveProduct{}, children: map[string][]string{}, bundles: map[string][]string{},
		attached: map[string][]attachment{}, parentOrdinals: map[string]int32{}, included: map[string]bool{}, dirty: map[string]bool{}}
	seeds := slices.Sorted(maps.Keys(p.delta.seeds))
	before, err := v.asInParent(ctx, seeds)
	if err != nil {
		return nil, err
	}
	p.delta.names = make(map[string]string, len(before))
	for id, was := range before {
		p.delta.names[id] = was.Name()
	}
	next := func(id string) []string { // what to visit after a product that came, left or changed
		list := append(v.related(id), v.children[id]...)
		if was := before[id]; was != nil {
			list = append(append(append(list, was.ParentID()), was.ChildIDs()...), was.ComponentProductIDs()...)
		}
		return list
	}
	for _, read := range []func(context.Context, []string) error{v.read, v.readChildren, v.readBundles} {
		if err := read(ctx, seeds); err != nil {
			return nil, err
		}
	}
	ahead := slices.Clone(seeds) // what the first waves visit, read at once
	for _, id := range seeds {
		ahead = append(append(ahead, next(id)...), v.bundles[id]...)
	}
	if err := v.around(ctx, store.Unique(ahead)); err != nil {
		return nil, err
	}
	if err := v.markDirty(ctx, seeds, before); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for wave := seeds; len(wave) > 0; {
		if err := v.reach(ctx, wave); err != nil {
			return nil, err
		}
		var following []string
		for _, id := range wave {
			seen[id] = true
			is := v.isIncluded(id)
			if !p.delta.seeds[id] && is == (v.parentOrdinals[id] >= 0) {
				continue
			}
			following = append(following, next(id)...)
		}
		wave = slices.DeleteFunc(store.Unique(following), func(id string) bool { return id == "" || seen[id] })
	}
	return v, nil
}

// asInParent returns products of the parent. It leaves out unknown ids.
func (v *affectedSet) asInParent(ctx context.Context, ids []string) (map[string]*release.Product, error) {
	found := map[string]*release.Product{}
	return found, store.Chunked(ids, 512, func(ids []string) error {
		some, err := v.plan.delta.view.ProductsByID(ctx, ids)
		maps.Copy(found, some)
		return err
	})
}

// related returns the parent and the components of a live product.
func (v *affectedSet) related(id string) []string {
	p := v.live[id]
	if p == nil {
		return nil
	}
	if p.parent == "" {
		return strings.Fields(p.components)
	}
	return append(strings.Fields(p.components), p.parent)
}

// markDirty marks the products to build again: the seeds, their children and
// bundles, and their parents, before and now, and the parents and bundles of all those.
func (v *affectedSet) markDirty(ctx context.Context, seeds []string, before map[string]*release.Product) error {
	for _, id := range seeds {
		v.dirty[id] = true
		for _, other := range slices.Concat(v.children[id], v.bundles[id]) {
			v.dirty[other] = true
		}
		if p := v.live[id]; p != nil {
			v.dirty[p.parent] = true
		}
		if was := before[id]; was != nil {
			v.dirty[was.ParentID()] = true
		}
	}
	delete(v.dirty, "")
	for wave := slices.Sorted(maps.Keys(v.dirty)); len(wave) > 0; { // parents and bundles name products by ordinal (segment.Families), which change
		for _, read := range []func(context.Context, []string) error{v.read, v.readBundles, v.readOrdinals} {
			if err := read(ctx, wave); err != nil {
				return err
			}
		}
		var next []string
		for _, id := range wave {
			p := v.live[id]
			if p == nil {
				continue
			}
			for _, other := range append(slices.Clone(v.bundles[id]), p.parent) {
				if other != "" && !v.dirty[other] {
					v.dirty[other] = true
					next = append(next, other)
				}
			}
		}
		wave = next
	}
	return nil
}

// reach reads all that isIncluded needs for some products.
func (v *affectedSet) reach(ctx context.Context, ids []string) error {
	reached := map[string]bool{}
	for wave := ids; len(wave) > 0; {
		if err := v.around(ctx, wave); err != nil {
			return err
		}
		var next []string
		for _, from := range wave {
			reached[from] = true
			if _, known := v.included[from]; !known && v.live[from] != nil && len(v.attached[from]) == 0 {
				next = append(next, v.referring(from)...)
			}
		}
		wave = slices.DeleteFunc(store.Unique(next), func(id string) bool { return id == "" || reached[id] })
	}
	return nil
}

// referring returns the products that bring a live product into the release.
func (v *affectedSet) referring(id string) []string {
	return append(slices.Concat(v.children[id], v.bundles[id]), v.live[id].parent)
}

// isIncluded reports whether a product is in the release: it is live and attached,
// or a product in the release refers to it. reach has read it.
func (v *affectedSet) isIncluded(id string) bool {
	reached := map[string]bool{id: true}
	for wave := []string{id}; len(wave) > 0; {
		var next []string
		for _, from := range wave {
			is, known := v.included[from]
			if is || !known && v.live[from] != nil && len(v.attached[from]) > 0 {
				v.included[id] = true
				return true
			}
			if known || v.live[from] == nil {
				continue
			}
			for _, other := range v.referring(from) {
				if other != "" && !reached[other] {
					reached[other] = true
					next = append(next, other)
				}
			}
		}
		wave = next
	}
	for other := range reached { // only these refer to each other
		v.included[other] = false
	}
	return false
}

// holds reports whether a product of the set is in the release.
func (v *affectedSet) holds(id string) bool {
	is, known := v.included[id]
	return v.live[id] != nil && (is || !known && v.parentOrdinals[id] >= 0)
}

// affected returns the products that are dirty, came or went.
func (v *affectedSet) affected() []string {
	ids := maps.Clone(v.dirty)
	for id, is := range v.included {
		if is != (v.parentOrdinals[id] >= 0) {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// own returns the products that the delta holds itself, by id.
func (v *affectedSet) own() []string {
	return slices.DeleteFunc(v.affected(), func(id string) bool { return !v.holds(id) })
}

// dead returns the ordinals of the parent that the delta does not have, and the ids of their products.
func (v *affectedSet) dead() (list index.Ordinals, ids []string) {
	for _, id := range v.affected() {
		if v.parentOrdinals[id] >= 0 {
			list, ids = append(list, uint32(v.parentOrdinals[id])), append(ids, id)
		}
	}
	slices.Sort(list)
	return list, ids // ids are in order, because those of affected are
}

// surroundings reads what the own products refer to, and the curated products that
// may differ from the parent.
func (v *affectedSet) surroundings(ctx context.Context, own []string) error {
	if err := v.readChildren(ctx, own); err != nil {
		return err
	}
	all := slices.Clone(own)
	for _, id := range own {
		all = append(append(all, v.related(id)...), v.children[id]...)
	}
	curated, err := v.recurated(ctx)
	if err != nil {
		return err
	}
	all = append(all, curated...)
	for _, read := range []func(context.Context, []string) error{v.read, v.readAttachments} {
		if err := read(ctx, all); err != nil {
			return err
		}
	}
	return v.readOrdinals(ctx, slices.Collect(maps.Keys(v.live)))
}

// recurated finds the nodes whose curated products may differ from the parent, and
// returns the ids of these products.
func (v *affectedSet) recurated(ctx context.Context) (ids []string, err error) {
	p, d := v.plan, v.plan.delta
	before, err := d.view.Tree(ctx)
	if err != nil {
		return nil, err
	}
	d.curated = map[string]bool{}
	affected, written := map[string]bool{}, map[string]bool{}
	for _, id := range v.affected() {
		affected[id] = true
	}
	for _, id := range d.changes["node"] {
		written[id] = true
	}
	for _, node := range p.tree.Nodes { // a curated product that died is affected, and a node that lost it was written
		if before.ByID[node.ID] == nil || written[node.ID] || slices.ContainsFunc(node.Curated, func(id string) bool { return affected[id] }) {
			d.curated[node.ID] = true
			ids = append(ids, node.Curated...)
		}
	}
	return ids, nil
}

// fill fills in the plan.
func (v *affectedSet) fill(own []string) {
	p, d := v.plan, v.plan.delta
	for _, id := range slices.Sorted(maps.Keys(v.live)) {
		if live := v.live[id]; live != nil {
			p.add(live)
			d.parentOrdinals = append(d.parentOrdinals, v.parentOrdinals[id])
		}
	}
	p.relations()
	p.attached, p.curated = map[string][]uint32{}, map[string][]uint32{}
	for id, list := range v.attached {
		if handle, live := p.ids.Find(id); live {
			for _, a := range list {
				a.handle = handle
				p.attach(a)
			}
		}
	}
	p.sortAttachments()
	p.ordinals = make([]int32, p.ids.Len())
	for handle := range p.ordinals {
		if p.ordinals[handle] = d.parentOrdinals[handle]; !v.holds(p.ids.At(uint32(handle))) {
			p.ordinals[handle] = -1
		}
	}
	for _, id := range own {
		handle, _ := p.ids.Find(id)
		p.order = append(p.order, handle)
	}
	p.kept, p.first = d.parent.Products+len(own)-len(d.dead), (d.parent.Ordinals+segment.ChunkSize-1)/segment.ChunkSize*segment.ChunkSize
	p.sortByUpdate(p.order)
	for i, handle := range p.order {
		p.ordinals[handle] = int32(p.first + i)
	}
	for _, node := range p.tree.Nodes {
		if d.curated[node.ID] {
			p.curate(node, p.attached[node.ID])
		}
	}
}
