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
	s := &affectedSet{plan: p, live: map[string]*liveProduct{}, children: map[string][]string{}, bundles: map[string][]string{},
		attached: map[string][]attachment{}, parentOrdinals: map[string]int32{}, included: map[string]bool{}, dirty: map[string]bool{}}
	seeds := slices.Sorted(maps.Keys(p.delta.seeds))
	before, err := s.asInParent(ctx, seeds)
	if err != nil {
		return nil, err
	}
	p.delta.names = make(map[string]string, len(before))
	for id, was := range before {
		p.delta.names[id] = was.Name()
	}
	next := func(id string) []string { // what to visit after a product that came, left or changed
		list := append(s.related(id), s.children[id]...)
		if was := before[id]; was != nil {
			list = append(append(append(list, was.ParentID()), was.ChildIDs()...), was.ComponentProductIDs()...)
		}
		return list
	}
	if err := s.read(ctx, seeds, readLive, readChildren, readBundles); err != nil {
		return nil, err
	}
	ahead := slices.Clone(seeds) // what the first waves visit, read at once
	for _, id := range seeds {
		ahead = append(append(ahead, next(id)...), s.bundles[id]...)
	}
	if err := s.around(ctx, store.Unique(ahead)); err != nil {
		return nil, err
	}
	if err := s.markDirty(ctx, seeds, before); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for wave := seeds; len(wave) > 0; {
		if err := s.reach(ctx, wave); err != nil {
			return nil, err
		}
		var following []string
		for _, id := range wave {
			seen[id] = true
			is := s.isIncluded(id)
			if !p.delta.seeds[id] && is == (s.parentOrdinals[id] >= 0) {
				continue
			}
			following = append(following, next(id)...)
		}
		wave = slices.DeleteFunc(store.Unique(following), func(id string) bool { return id == "" || seen[id] })
	}
	return s, nil
}

// asInParent returns products of the parent. It leaves out unknown ids.
func (s *affectedSet) asInParent(ctx context.Context, ids []string) (map[string]*release.Product, error) {
	found := map[string]*release.Product{}
	return found, store.Chunked(ids, 512, func(ids []string) error {
		some, err := s.plan.delta.view.ProductsByID(ctx, ids)
		maps.Copy(found, some)
		return err
	})
}

// related returns the parent and the components of a live product.
func (s *affectedSet) related(id string) []string {
	p := s.live[id]
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
func (s *affectedSet) markDirty(ctx context.Context, seeds []string, before map[string]*release.Product) error {
	for _, id := range seeds {
		s.dirty[id] = true
		for _, other := range slices.Concat(s.children[id], s.bundles[id]) {
			s.dirty[other] = true
		}
		if p := s.live[id]; p != nil {
			s.dirty[p.parent] = true
		}
		if was := before[id]; was != nil {
			s.dirty[was.ParentID()] = true
		}
	}
	delete(s.dirty, "")
	for wave := slices.Sorted(maps.Keys(s.dirty)); len(wave) > 0; { // parents and bundles name products by ordinal (segment.Families), which change
		if err := s.read(ctx, wave, readLive, readBundles); err != nil {
			return err
		}
		if err := s.readOrdinals(ctx, wave); err != nil {
			return err
		}
		var next []string
		for _, id := range wave {
			p := s.live[id]
			if p == nil {
				continue
			}
			for _, other := range append(slices.Clone(s.bundles[id]), p.parent) {
				if other != "" && !s.dirty[other] {
					s.dirty[other] = true
					next = append(next, other)
				}
			}
		}
		wave = next
	}
	return nil
}

// reach reads all that isIncluded needs for some products: all that refer to them, until one is attached.
func (s *affectedSet) reach(ctx context.Context, ids []string) error {
	reached := map[string]bool{}
	for wave := ids; len(wave) > 0; {
		if err := s.around(ctx, wave); err != nil {
			return err
		}
		var next []string
		for _, from := range wave {
			reached[from] = true
			if _, known := s.included[from]; !known && s.live[from] != nil && len(s.attached[from]) == 0 {
				next = append(next, s.referring(from)...)
			}
		}
		wave = slices.DeleteFunc(store.Unique(next), func(id string) bool { return id == "" || reached[id] })
	}
	return nil
}

// referring returns the products that bring a live product into the release.
func (s *affectedSet) referring(id string) []string {
	return append(slices.Concat(s.children[id], s.bundles[id]), s.live[id].parent)
}

// isIncluded reports whether a product is in the release: it is live and attached,
// or a product in the release refers to it. reach has read it. It enters what it finds in included, so that the next call
// stops there.
func (s *affectedSet) isIncluded(id string) bool {
	reached := map[string]bool{id: true}
	for wave := []string{id}; len(wave) > 0; {
		var next []string
		for _, from := range wave {
			is, known := s.included[from]
			if is || !known && s.live[from] != nil && len(s.attached[from]) > 0 {
				s.included[id] = true
				return true
			}
			if known || s.live[from] == nil {
				continue
			}
			for _, other := range s.referring(from) {
				if other != "" && !reached[other] {
					reached[other] = true
					next = append(next, other)
				}
			}
		}
		wave = next
	}
	for other := range reached { // only these refer to each other
		s.included[other] = false
	}
	return false
}

// holds reports whether a product of the set is in the release. One that explore did not visit is if it is live and the parent
// release has it.
func (s *affectedSet) holds(id string) bool {
	is, known := s.included[id]
	return s.live[id] != nil && (is || !known && s.parentOrdinals[id] >= 0)
}

// affected returns the products that are dirty, came or went.
func (s *affectedSet) affected() []string {
	ids := maps.Clone(s.dirty)
	for id, is := range s.included {
		if is != (s.parentOrdinals[id] >= 0) {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// own returns the products that the delta holds itself, by id.
func (s *affectedSet) own() []string {
	return slices.DeleteFunc(s.affected(), func(id string) bool { return !s.holds(id) })
}

// dead returns the ordinals of the parent that the delta does not have, and the ids of their products.
func (s *affectedSet) dead() (list index.Ordinals, ids []string) {
	for _, id := range s.affected() {
		if s.parentOrdinals[id] >= 0 {
			list, ids = append(list, uint32(s.parentOrdinals[id])), append(ids, id)
		}
	}
	slices.Sort(list)
	return list, ids // ids are in order, because those of affected are
}

// surroundings reads what the own products refer to, and the curated products that
// may differ from the parent.
func (s *affectedSet) surroundings(ctx context.Context, own []string) error {
	if err := s.read(ctx, own, readChildren); err != nil {
		return err
	}
	all := slices.Clone(own)
	for _, id := range own {
		all = append(append(all, s.related(id)...), s.children[id]...)
	}
	curated, err := s.recurated(ctx)
	if err != nil {
		return err
	}
	all = append(all, curated...)
	if err := s.read(ctx, all, readLive, readAttachments); err != nil {
		return err
	}
	return s.readOrdinals(ctx, slices.Collect(maps.Keys(s.live)))
}

// recurated finds the nodes whose curated products may differ from the parent, and
// returns the ids of these products.
func (s *affectedSet) recurated(ctx context.Context) (ids []string, err error) {
	p, d := s.plan, s.plan.delta
	before, err := d.view.Tree(ctx)
	if err != nil {
		return nil, err
	}
	d.curated = map[string]bool{}
	affected, written := map[string]bool{}, map[string]bool{}
	for _, id := range s.affected() {
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

// fill fills in the plan with the products of the set: their handles, relations and attachments, and their ordinals. Products
// that the delta does not hold itself have those of the parent release. own are those that it does. Their ordinals begin with a
// chunk of their own, above all others.
func (s *affectedSet) fill(own []string) {
	p, d := s.plan, s.plan.delta
	for _, id := range slices.Sorted(maps.Keys(s.live)) {
		if live := s.live[id]; live != nil {
			p.add(live)
			d.parentOrdinals = append(d.parentOrdinals, s.parentOrdinals[id])
		}
	}
	p.relations()
	p.attached, p.curated = map[string][]uint32{}, map[string][]uint32{}
	for id, list := range s.attached {
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
		p.ordinals[handle] = d.parentOrdinals[handle]
		if !s.holds(p.ids.At(uint32(handle))) {
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
