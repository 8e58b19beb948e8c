package catalog

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/index"
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
	Translations      []*AuthoredTranslation   // by language
	Position          *int                     // among nodes; nil for none
	MainImageID       *string                  // nil for none
	Attributes        []AuthoredAttributeValue // by key
	CuratedProductIDs []string                 // products that come first, in this order
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// GlobalID returns the node's global id.
func (n *AuthoredNode) GlobalID() string { return store.GlobalID(store.TypeAuthoredCatalogNode, n.ID) }

// scanNode reads the columns of NodeList.
func scanNode(rows *sql.Rows) (*AuthoredNode, error) {
	source := &NodeSource{}
	var id string
	var created, updated int64
	if err := rows.Scan(&id, &created, &updated, db.JSON{Into: source}); err != nil {
		return nil, err
	}
	a := &source.Attributes
	return &AuthoredNode{ID: source.ID, HierarchyID: source.Relationships.Hierarchy.ID(), ParentID: source.parentID(),
		Name: a.Name, Slug: a.Slug, Description: a.Description, SEO: a.Text().SEO, Translations: authoredTranslations(a.Locales), Position: a.Position, MainImageID: linkedID(source.Relationships.MainImage), Attributes: a.CustomAttributes.Authored(), CuratedProductIDs: a.CuratedProducts,
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

// NodeFilter selects authored nodes. All members must match.
type NodeFilter struct {
	HierarchyID *string  // of this hierarchy; nil is any
	ParentID    *string  // directly below this node or hierarchy; nil is any
	Slugs       []string // of one of these slugs; nil is any
	Search      string   // parts of the name; ignores case and accents
	UpdatedAt   []store.Range
}

// Conditions returns the filter for a list, without its ranges and its search.
func (f NodeFilter) Conditions() (conditions []db.Condition) {
	if f.HierarchyID != nil {
		conditions = append(conditions, db.OneOf("hierarchy_id", store.ValidIDs([]string{*f.HierarchyID})))
	}
	if f.ParentID != nil {
		conditions = append(conditions, db.OneOf("parent_id", store.ValidIDs([]string{*f.ParentID})))
	}
	if f.Slugs != nil {
		conditions = append(conditions, db.OneOf("slug", storable(f.Slugs)))
	}
	return conditions
}

// AuthoredNodes lists the nodes that match a filter, by id, position, name, creation or last change. The default is by id, or
// by SortUpdatedAt if the filter bounds it.
func (s *Service) AuthoredNodes(ctx context.Context, filter NodeFilter, sort store.Sort, page store.Page) (*store.Slice[*AuthoredNode], error) {
	of := NodeList
	of.Conditions = filter.Conditions()
	if sort.By == store.SortDefault && len(filter.UpdatedAt) > 0 {
		sort.By = store.SortUpdatedAt
	}
	return searchedList(ctx, s.db, of, search{"name_folded", filter.Search}, store.ListQuery{Sort: sort, Ranges: filter.UpdatedAt, Page: page})
}

func (n *AuthoredNode) textSize() int {
	size := translationsSize(n.Translations)
	for _, attribute := range n.Attributes {
		size += attributeOverhead + len(attribute.Key) + len(attribute.Value)
	}
	return size
}

// NodeList lists authored nodes by id, or by the time of their last change.
var NodeList = db.Listing[*AuthoredNode]{
	Name: "node", Columns: `id, created_at, updated_at, body`, Table: "node", ID: "id", Scan: scanNode,
	Orders: map[store.SortBy][]string{store.SortName: {"name_key"}, store.SortPosition: {"position", "name_key"}},
	Key: func(n *AuthoredNode, sort store.Sort) []any {
		switch sort.By {
		case store.SortPosition:
			return []any{orderOf(n.Position), index.SortKey(n.Name), n.ID}
		case store.SortName:
			return []any{index.SortKey(n.Name), n.ID}
		case store.SortCreatedAt:
			return []any{store.Micros(n.CreatedAt), n.ID}
		case store.SortUpdatedAt:
			return []any{store.Micros(n.UpdatedAt), n.ID}
		}
		return []any{n.ID}
	},
}
