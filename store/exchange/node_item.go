package exchange

import (
	"context"
	"slices"
	"strconv"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange/check"
)

// CatalogNodeItemInput is a node in catalogNodesUpsert: what changes of it. Its parent may be its hierarchy, which means none. Its
// products are written by other mutations.
type CatalogNodeItemInput struct {
	ID           *string                      `json:"id,omitempty"`
	HierarchyID  *string                      `json:"hierarchyId,omitempty"`
	ParentID     *string                      `json:"parentId,omitempty"`
	Name         *string                      `json:"name,omitempty"`
	Slug         *string                      `json:"slug,omitempty"`
	Description  *string                      `json:"description,omitempty"`
	Position     *int                         `json:"position,omitempty"`
	MainImageID  *string                      `json:"mainImageId,omitempty"`
	Seo          *catalog.SEOChange           `json:"seo,omitempty"`
	Translations []*catalog.TranslationChange `json:"translations,omitzero"`
	Attributes   []*AttributeValueInput       `json:"attributes,omitzero"`
	CreatedAt    *time.Time                   `json:"createdAt,omitempty"`
}

// UpsertNodes creates nodes and changes members of existing ones, all or none. An item without an id is a new
// node. An item may be below another one. A new node without a hierarchy is in that of its parent.
func (s *Service) UpsertNodes(ctx context.Context, actor store.Actor, items []*CatalogNodeItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	var inherited map[string]string
	kind := catalog.NodeKind
	kind.Write, kind.Export = kind.Author, catalog.ExportNodesWithoutProducts
	return s.writeItems(ctx, actor, itemSet{
		kind: kind, count: len(items),
		identify: func(ctx context.Context, in db.Session) (ids []string, faults store.Errors, err error) {
			ids, faults, err = idsOutside(ctx, in, "hierarchy", len(items), func(i int) *string { return items[i].ID })
			if err == nil {
				inherited, err = inheritedHierarchies(ctx, in, ids, items)
			}
			return ids, faults, err
		},
		patch: func(i int, id string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p, inherited[id])
			return p
		},
		place: func(places []int, path []string) []string {
			return inItem(places, contentElementPath(path, items[places[0]].Translations, items[places[0]].Attributes))
		},
		accept: func(d *check.Line) {
			// Curated products that are not attached are not in the line.
			d.Warnings = slices.DeleteFunc(d.Warnings, func(e *store.Error) bool { return len(e.Path) > 1 && e.Path[1] == "curated_products" })
			for i, e := range d.Errors {
				if slices.Equal(e.Path, []string{"relationships", "hierarchy"}) {
					d.Errors[i] = store.Unprocessablef(e.Path, "is required; a new node may have parentId instead: a hierarchy, or a node of one")
				}
			}
		},
	}, dryRun)
}

// inheritedHierarchies returns the hierarchy of each item's node, by id. Without one of its own it is that of the stored node,
// else of its parent: a hierarchy, a stored node or another item. ids are those of the items.
func inheritedHierarchies(ctx context.Context, in db.Session, ids []string, items []*CatalogNodeItemInput) (map[string]string, error) {
	parents, wanted := map[string]string{}, slices.Clone(ids)
	for i, item := range items {
		if item.HierarchyID == nil && item.ParentID != nil {
			parents[ids[i]] = store.LocalID(*item.ParentID)
			wanted = append(wanted, parents[ids[i]])
		}
	}
	known, err := db.CollectIn(ctx, in, db.ScanPair[string, string], store.Unique(store.ValidIDs(wanted)), `SELECT id, id FROM hierarchy WHERE id IN ($in) UNION ALL SELECT id, hierarchy_id FROM node WHERE id IN ($in)`)
	hierarchies := db.PairMap(known)
	for i, item := range items {
		if item.HierarchyID != nil {
			hierarchies[ids[i]] = store.LocalID(*item.HierarchyID)
		}
	}
	for _, id := range ids {
		var way []string
		for ; parents[id] != "" && hierarchies[id] == "" && len(way) < len(ids); id = parents[id] { // a circle of parents ends too
			way = append(way, id)
		}
		for _, below := range way {
			hierarchies[below] = hierarchies[id]
		}
	}
	return hierarchies, err
}

// idsOutside returns the id of each item, a new one by default. No resource of the other kind must have it: nodes and
// hierarchies share their ids.
func idsOutside(ctx context.Context, in db.Session, other string, count int, of func(i int) *string) (ids []string, faults store.Errors, err error) {
	ids = ownOrNewIDs(count, of)
	taken, err := (&authoring.Writer{Tx: &db.Tx{Session: in}}).Existing(ctx, other, store.Unique(store.ValidIDs(ids)))
	for i, id := range ids {
		if taken[id] {
			faults = append(faults, store.AlreadyExistsf([]string{strconv.Itoa(i), "id"}, "is already used by a %s: %q", other, id))
		}
	}
	return ids, faults, err
}

// patch adds what the item changes. hierarchy is that of the node: of the item, of its parent, or the stored one; empty if
// the parent is unknown.
func (item *CatalogNodeItemInput) patch(p *itemPatch, hierarchy string) {
	inherits := item.HierarchyID == nil && !p.null("hierarchy_id") && p.before == nil && item.ParentID != nil
	of := item.HierarchyID
	if inherits {
		of = &hierarchy
	}
	putLink(p, "hierarchy_id", "relationships.hierarchy", "hierarchy", of)
	switch {
	case inherits && hierarchy == "":
		p.faults = append(p.faults, store.UnknownReferencef([]string{"parent_id"}, "leads to no hierarchy: %q; send the id of a node or hierarchy", store.Abbreviate(store.LocalID(*item.ParentID))))
	case item.ParentID != nil && store.LocalID(*item.ParentID) == hierarchy:
		p.Set(nil, "relationships", "parent")
	default:
		putLink(p, "parent_id", "relationships.parent", "node", item.ParentID)
	}
	put(p, "name", "attributes.name", item.Name)
	put(p, "slug", "attributes.slug", item.Slug)
	put(p, "description", "attributes.description", item.Description)
	put(p, "position", "attributes.position", item.Position)
	putLink(p, "main_image_id", "relationships.main_image", "file", item.MainImageID)
	p.setCreated(item.CreatedAt)
	p.texts(item.Seo, item.Translations)
	p.attributes(item.Attributes)
}
