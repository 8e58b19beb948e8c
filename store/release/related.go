package release

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"portico/store"
)

// MaxRelated is the largest number of related products of a product.
const MaxRelated = 50

// relatedCandidates is the number of other products of a node, the first in its order, among which related ones are found.
const relatedCandidates = 50

// Related returns the products related to each of several products, at most some, by id: those that the merchant
// named for a kind, in the merchant's order. Without a kind it is those of all kinds, by kind, and for a product
// that names none, others of its first node, parents in place of their children: those with the most tags in common
// first, then in the node's order. All are live products of the catalog. The number of statements does not depend on the number of products.
func (v *View) Related(ctx context.Context, products []*Product, kind string, most int) (map[string][]*Product, error) {
	named := make(map[string][]string, len(products))
	var ids, nodes []string
	for _, p := range products {
		named[p.ID()] = namedRelated(p, kind)
		ids = append(ids, named[p.ID()]...)
		if all := p.NodeIDs(); len(named[p.ID()]) == 0 && kind == "" && len(all) > 0 {
			nodes = append(nodes, all[0])
		}
	}
	found, err := v.ProductsByID(ctx, store.Unique(ids))
	if err != nil {
		return nil, err
	}
	siblings := map[string]*store.Slice[*Product]{}
	if len(nodes) > 0 { // the product itself, or its parent, may be one of the first
		if siblings, err = v.ProductsOfNodes(ctx, store.Unique(nodes), ProductQuery{Variants: VariantsParents, Page: store.Page{First: new(relatedCandidates + 1)}}); err != nil {
			return nil, err
		}
	}
	related := make(map[string][]*Product, len(products))
	for _, p := range products {
		list := []*Product{}
		for _, id := range named[p.ID()] {
			if other := found[id]; other != nil {
				list = append(list, other)
			}
		}
		if all := p.NodeIDs(); len(named[p.ID()]) == 0 && kind == "" && len(all) > 0 {
			list = alike(p, siblings[all[0]].Items)
		}
		related[p.ID()] = list[:min(most, len(list))]
	}
	return related, nil
}

// namedRelated returns the ids that the merchant named for a kind, or for all if it is empty, without the product's own.
func namedRelated(p *Product, kind string) (ids []string) {
	byKind := p.RelatedIDs()
	for _, k := range slices.Sorted(maps.Keys(byKind)) {
		if kind == "" || k == kind {
			ids = append(ids, byKind[k]...)
		}
	}
	return slices.DeleteFunc(store.Unique(ids), func(id string) bool { return id == p.ID() })
}

// alike returns at most relatedCandidates products of a node but p and its variants, those with the most tags in common first.
func alike(p *Product, candidates []*Product) []*Product {
	tags := make(map[string]bool, len(p.Tags()))
	for _, tag := range p.Tags() {
		tags[tag] = true
	}
	common := func(other *Product) (n int) {
		for _, tag := range other.Tags() {
			if tags[tag] {
				n++
			}
		}
		return n
	}
	family := cmp.Or(p.ParentID(), p.ID())
	list := slices.DeleteFunc(slices.Clone(candidates), func(other *Product) bool {
		return other.ID() == family || other.ID() == p.ID() || other.ParentID() == family
	})
	list = list[:min(relatedCandidates, len(list))]
	slices.SortStableFunc(list, func(a, b *Product) int { return cmp.Compare(common(b), common(a)) })
	return list
}
