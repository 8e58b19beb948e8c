package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// AuthoredNode is a node as authored. Shoppers see it in the catalogs that include its
// hierarchy, once they are published.
type AuthoredNode struct {
	ID                string
	HierarchyID       string
	ParentID          string // parent node or hierarchy
	Name              string
	Slug              string
	Description       string
	SEO               SEOText
	Translations      []*AuthoredTranslation // by language
	Position          *int                   // among nodes; nil for none
	MainImageID       *string                // nil for none
	CuratedProductIDs []string               // products that come first, in this order
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// GlobalID returns the node's global id.
func (n *AuthoredNode) GlobalID() string { return store.GlobalID(store.TypeAuthoredCatalogNode, n.ID) }

func scanNode(rows *sql.Rows) (*AuthoredNode, error) {
	source := &NodeSource{}
	var id string
	var created, updated int64
	if err := rows.Scan(&id, &created, &updated, db.JSON{Into: source}); err != nil {
		return nil, err
	}
	a, hierarchy := &source.Attributes, source.Relationships.Hierarchy.ID()
	return &AuthoredNode{ID: source.ID, HierarchyID: hierarchy, ParentID: cmp.Or(source.Relationships.Parent.ID(), hierarchy),
		Name: a.Name, Slug: a.Slug, Description: a.Description, SEO: a.Text().SEO, Translations: authoredTranslations(a.Locales), Position: a.Position, MainImageID: linkedID(source.Relationships.MainImage), CuratedProductIDs: a.CuratedProducts,
		CreatedAt: store.FromMicros(created), UpdatedAt: store.FromMicros(updated)}, nil
}

// AuthoredNode returns a node as authored, or NOT_FOUND.
func (s *Service) AuthoredNode(ctx context.Context, id string) (*AuthoredNode, error) {
	return authoring.ReadRow(ctx, s.db.Reader, NodeList, "node", id)
}

// AuthoredNodesByID returns nodes by id; unknown ones are missing.
func (s *Service) AuthoredNodesByID(ctx context.Context, ids []string) (map[string]*AuthoredNode, error) {
	byID, err := authoring.ReadRowsByID(ctx, s.db.Reader, NodeList, ids)
	return chargedByID(ctx, byID, err)
}

// AuthoredNodes lists all nodes of a hierarchy by id; none if it does not exist.
func (s *Service) AuthoredNodes(ctx context.Context, hierarchyID string, page store.Page) (*store.Slice[*AuthoredNode], error) {
	of := NodeList
	of.Conditions = []db.Condition{{Clause: "hierarchy_id = ?", Values: []any{hierarchyID}}}
	list, err := db.List(ctx, s.db, of, store.ListQuery{Page: page})
	return chargedList(ctx, list, err)
}

func (n *AuthoredNode) textSize() int { return translationsSize(n.Translations) }

var NodeList = db.Listing[*AuthoredNode]{
	Name: "node", Columns: `id, created_at, updated_at, body`, Table: "node", ID: "id", Scan: scanNode,
	Key: func(n *AuthoredNode, _ store.Sort) []any { return []any{n.ID} },
}
