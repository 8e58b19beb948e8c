package publish

import (
	"context"
	"maps"
	"slices"

	"portico/store/catalog"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release"
	"portico/store/release/segment"
)

// madeSide is the release that a publication makes, or would make: what the plan and the writer have in memory, and beside
// it what is stored of a whole release, or of the parent of a delta.
type madeSide struct{ w *releaseWriter }

func (m *madeSide) Release() *segment.Release { return m.w.release }

func (m *madeSide) Tree(context.Context) (*segment.Tree, error) { return m.w.plan.tree, nil }

func (m *madeSide) Attributes(context.Context) (segment.Attributes, error) {
	return m.w.plan.attributes, nil
}

func (m *madeSide) SynonymSources(context.Context) ([]*catalog.SynonymSource, error) {
	return m.w.plan.synonyms, nil
}

func (m *madeSide) RedirectSources(context.Context) ([]*catalog.RedirectSource, error) {
	return m.w.plan.redirects, nil
}

// stored is the parent of a delta, or a whole release that is written.
func (m *madeSide) stored() *compare.StoredSide {
	if d := m.w.plan.delta; d != nil {
		return compare.NewStoredSide(m.w.service.db, d.view)
	}
	return compare.NewStoredSide(m.w.service.db, release.Uncached(m.w.served, m.w.release)) // its cache identity is not known before it is published
}

// parted divides products into those that the release holds itself, by handle, and those that a delta has from its parent,
// with their versions. Products that the release does not show are in neither.
func (m *madeSide) parted(ctx context.Context, ids []string) (own []uint32, below map[string]compare.ProductVersion, err error) {
	var others []string
	for _, id := range ids {
		if handle, isOwn := m.w.plan.own(id); isOwn {
			own = append(own, handle)
		} else {
			others = append(others, id)
		}
	}
	d := m.w.plan.delta
	if d == nil || len(others) == 0 {
		return own, nil, nil
	}
	below, err = compare.VersionsIn(ctx, d.view, others)
	maps.DeleteFunc(below, func(_ string, v compare.ProductVersion) bool {
		_, dead := slices.BinarySearch(d.dead, v.Ordinal)
		return dead
	})
	return own, below, err
}

func (m *madeSide) Versions(ctx context.Context, ids []string) (map[string]compare.ProductVersion, error) {
	own, below, err := m.parted(ctx, ids)
	found := make(map[string]compare.ProductVersion, len(ids))
	for _, handle := range own {
		ordinal := int(m.w.plan.ordinals[handle])
		found[m.w.plan.ids.At(handle)] = compare.ProductVersion{Version: m.w.versions[ordinal-m.w.plan.first]}
	}
	maps.Copy(found, below)
	return found, err
}

func (m *madeSide) FoundBy(ctx context.Context, ids []string) (map[string]compare.FoundBy, error) {
	if m.w.plan.delta == nil {
		return m.stored().FoundBy(ctx, ids)
	}
	own, below, err := m.parted(ctx, ids)
	if err != nil {
		return nil, err
	}
	found, err := m.stored().FoundBy(ctx, compare.SortedIDs(below))
	for _, handle := range own {
		id := m.w.plan.ids.At(handle)
		by := m.w.found[id]
		for _, node := range m.w.plan.nodes(handle) {
			by.NodeIDs = append(by.NodeIDs, node.ID)
		}
		found[id] = by
	}
	return found, err
}

// Shown builds the products that the release holds itself again.
func (m *madeSide) Shown(ctx context.Context, ids []string) (map[string]*compare.ShownProduct, error) {
	own, below, err := m.parted(ctx, ids)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*compare.ShownProduct, len(ids))
	if len(below) > 0 {
		if found, err = m.stored().Shown(ctx, compare.SortedIDs(below)); err != nil {
			return nil, err
		}
	}
	products, err := m.w.plan.build(ctx, m.w.release, own)
	if err != nil {
		return nil, err
	}
	for _, product := range products {
		b := product.stored
		t := &compare.ProductTexts{Custom: string(b.Attributes), Offers: b.Offers, Crumbs: string(b.Crumbs), Documents: map[string]string{}, Extras: map[string]string{}}
		for language, document := range b.Documents {
			t.Documents[language], t.Extras[language] = string(document), string(b.Extras[language])
		}
		if found[b.ID], err = t.Show(b.ID); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (m *madeSide) Curated(ctx context.Context, nodes []*segment.CatalogNode) (map[string][]string, error) {
	p, found := m.w.plan, map[string][]string{}
	d := p.delta
	if d != nil { // the lists that the delta leaves as they are
		var err error
		if found, err = m.stored().Curated(ctx, nodes); err != nil {
			return nil, err
		}
	}
	for _, node := range nodes {
		if d != nil && !d.curated[node.ID] {
			continue
		}
		found[node.ID] = nil
		for _, handle := range p.curated[node.ID] {
			found[node.ID] = append(found[node.ID], p.ids.At(handle))
		}
	}
	return found, nil
}

// Files reads the stored files, and for a delta those that it wrote itself. A dry run stores none, so it reads the authored ones.
func (m *madeSide) Files(ctx context.Context, ids []string) (map[string]string, error) {
	if !m.w.dryRun {
		texts, err := m.stored().Files(ctx, ids)
		for _, id := range ids {
			if text, own := m.w.ownFiles[id]; own {
				texts[id] = text
			}
		}
		return texts, err
	}
	list, args := db.InList(nil, ids)
	found, err := db.Collect(ctx, m.w.plan.in, scanReleasedFile, `SELECT id, body FROM file WHERE id IN (`+list+`)`, args...)
	texts := make(map[string]string, len(found))
	for _, f := range found {
		texts[f.id] = string(f.body)
	}
	return texts, err
}
