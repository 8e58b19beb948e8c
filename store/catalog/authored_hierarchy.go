package catalog

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// AuthoredHierarchy is the root of a tree of nodes as authored. Shoppers see it in the
// catalogs that include it, once they are published.
type AuthoredHierarchy struct {
	ID           string
	Name         string
	Slug         string
	Description  string
	SEO          SEOText
	Translations []*AuthoredTranslation // by language
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// GlobalID returns the hierarchy's global id.
func (h *AuthoredHierarchy) GlobalID() string {
	return store.GlobalID(store.TypeAuthoredHierarchy, h.ID)
}

// scanHierarchy reads the columns of HierarchyList.
func scanHierarchy(rows *sql.Rows) (*AuthoredHierarchy, error) {
	source := &hierarchySource{}
	var id string
	var created, updated int64
	if err := rows.Scan(&id, &created, &updated, db.JSON{Into: source}); err != nil {
		return nil, err
	}
	a := &source.Attributes
	return &AuthoredHierarchy{ID: source.ID, Name: a.Name, Slug: a.Slug, Description: a.Description,
		SEO: a.Text().SEO, Translations: authoredTranslations(a.Locales),
		CreatedAt: store.FromMicros(created), UpdatedAt: store.FromMicros(updated)}, nil
}

// AuthoredHierarchy returns a hierarchy as authored, or NOT_FOUND.
func (s *Service) AuthoredHierarchy(ctx context.Context, id string) (*AuthoredHierarchy, error) {
	return authoring.ReadRow(ctx, s.db.Reader, HierarchyList, "hierarchy", id)
}

// AuthoredHierarchiesByID returns hierarchies by id; unknown ones are missing.
func (s *Service) AuthoredHierarchiesByID(ctx context.Context, ids []string) (map[string]*AuthoredHierarchy, error) {
	byID, err := authoring.ReadRowsByID(ctx, s.db.Reader, HierarchyList, ids)
	return chargedByID(ctx, byID, err)
}

// AuthoredHierarchies lists all hierarchies by id.
func (s *Service) AuthoredHierarchies(ctx context.Context, page store.Page) (*store.Slice[*AuthoredHierarchy], error) {
	list, err := db.List(ctx, s.db, HierarchyList, store.ListQuery{Page: page})
	return chargedList(ctx, list, err)
}

func (h *AuthoredHierarchy) textSize() int { return translationsSize(h.Translations) }

// HierarchyList lists authored hierarchies by id.
var HierarchyList = db.Listing[*AuthoredHierarchy]{
	Name: "hierarchy", Columns: `id, created_at, updated_at, body`, Table: "hierarchy", ID: "id", Scan: scanHierarchy,
	Key: func(h *AuthoredHierarchy, _ store.Sort) []any { return []any{h.ID} },
}
