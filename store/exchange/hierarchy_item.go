package exchange

import (
	"context"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// HierarchyItemInput is a hierarchy in hierarchiesUpsert: what changes of it.
type HierarchyItemInput struct {
	ID           *string                      `json:"id,omitempty"`
	Name         *string                      `json:"name,omitempty"`
	Slug         *string                      `json:"slug,omitempty"`
	Description  *string                      `json:"description,omitempty"`
	Seo          *catalog.SEOChange           `json:"seo,omitempty"`
	Translations []*catalog.TranslationChange `json:"translations,omitzero"`
	CreatedAt    *time.Time                   `json:"createdAt,omitempty"`
}

// UpsertHierarchies creates hierarchies and changes members of existing ones, all or none. An item without an id is a
// new hierarchy.
func (s *Service) UpsertHierarchies(ctx context.Context, actor store.Actor, items []*HierarchyItemInput, nulls store.Nulls, dryRun bool) (*ItemsWritten, error) {
	cleared := store.SetOf(nulls)
	return s.writeItems(ctx, actor, itemSet{
		kind: catalog.HierarchyKind, count: len(items),
		identify: func(ctx context.Context, in db.Session) ([]string, store.Errors, error) {
			return idsOutside(ctx, in, "node", len(items), func(i int) *string { return items[i].ID })
		},
		patch: func(i int, _ string, before []byte) *itemPatch {
			p := newItemPatch(i, cleared, before)
			items[i].patch(p)
			return p
		},
		place: func(places []int, path []string) []string {
			return inItem(places, contentElementPath(path, items[places[0]].Translations, nil))
		},
	}, dryRun)
}

// patch adds what the item changes.
func (item *HierarchyItemInput) patch(p *itemPatch) {
	put(p, "name", "attributes.name", item.Name)
	put(p, "slug", "attributes.slug", item.Slug)
	put(p, "description", "attributes.description", item.Description)
	p.setCreated(item.CreatedAt)
	p.texts(item.Seo, item.Translations)
}
