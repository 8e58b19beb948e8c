package catalog

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
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
	CuratedProductIDs []string               // products that come first, in this order
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// GlobalID returns the node's global id.
func (n *AuthoredNode) GlobalID() string { return store.GlobalID(store.TypeAuthoredNode, n.ID) }

func scanNode(rows *sql.Rows) (*AuthoredNode, error) {
	source := &NodeSource{}
	var id string
	var created, updated int64
	if err := rows.Scan(&id, &created, &updated, db.JSON{Into: source}); err != nil {
		return nil, err
	}
	a, hierarchy := &source.Attributes, source.Relationships.Hierarchy.ID()
	return &AuthoredNode{ID: source.ID, HierarchyID: hierarchy, ParentID: cmp.Or(source.Relationships.Parent.ID(), hierarchy),
		Name: a.Name, Slug: a.Slug, Description: a.Description, SEO: a.Text().SEO, Translations: authoredTranslations(a.Locales), CuratedProductIDs: a.CuratedProducts,
		CreatedAt: store.FromMicros(created), UpdatedAt: store.FromMicros(updated)}, nil
}

// AuthoredNode returns a node as authored, or NOT_FOUND.
func (s *CatalogService) AuthoredNode(ctx context.Context, id string) (*AuthoredNode, error) {
	return authoring.ReadRow(ctx, s.db.Reader, NodeList, "node", id)
}

// AuthoredNodesByID returns nodes by id; unknown ones are missing.
func (s *CatalogService) AuthoredNodesByID(ctx context.Context, ids []string) (map[string]*AuthoredNode, error) {
	byID, err := authoring.ReadRowsByID(ctx, s.db.Reader, NodeList, ids)
	return chargedByID(ctx, byID, err)
}

// AuthoredNodes lists all nodes of a hierarchy by id; none if it does not exist.
func (s *CatalogService) AuthoredNodes(ctx context.Context, hierarchyID string, page store.Page) (*store.Slice[*AuthoredNode], error) {
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

// CreateNode creates a node below a parent node or hierarchy; an empty id generates one. It
// returns INVALID for each wrong member, and UNPROCESSABLE for an unknown parent or an id
// that is taken.
func (s *CatalogService) CreateNode(ctx context.Context, actor store.Actor, id, parentID string, change NodeChange) (*AuthoredNode, error) {
	return writeRow(ctx, s, actor, NodeList, "node", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &NodeSource{Type: "node", ID: authoring.OrNewID(&id)}
		source.Attributes.CreatedAt = store.FormatTime(w.Now)
		if err := change.apply(&source.Attributes); err != nil {
			return err
		}
		hierarchy, err := hierarchyOf(ctx, w, parentID)
		if err != nil {
			return err
		}
		source.setParent(hierarchy, parentID)
		if err := requireUnusedID(ctx, w, "hierarchy", id); err != nil {
			return err
		}
		return w.Create(ctx, NodeKind, source)
	})
}

// UpdateNode changes a node's texts. It returns NOT_FOUND, or INVALID for each wrong member.
func (s *CatalogService) UpdateNode(ctx context.Context, actor store.Actor, id string, change NodeChange) (*AuthoredNode, error) {
	if err := change.applyNulls(); err != nil {
		return nil, err
	}
	row, err := changeRow(ctx, s, actor, NodeList, NodeKind, "node", id, func(_ context.Context, _ *authoring.Writer, source *NodeSource) error {
		return change.apply(&source.Attributes)
	})
	return row, change.placed(err)
}

// MoveNode moves a node with its subtree to another parent in its hierarchy. It returns
// NOT_FOUND, or UNPROCESSABLE for a parent that is unknown, in another hierarchy, or in the
// subtree.
func (s *CatalogService) MoveNode(ctx context.Context, actor store.Actor, id, parentID string) (*AuthoredNode, error) {
	return changeRow(ctx, s, actor, NodeList, NodeKind, "node", id, func(ctx context.Context, w *authoring.Writer, source *NodeSource) error {
		own := source.Relationships.Hierarchy.ID()
		hierarchy, err := hierarchyOf(ctx, w, parentID)
		if err != nil {
			return err
		}
		if hierarchy != own {
			return store.Unprocessablef([]string{"parent_id"}, "must be in the node's hierarchy, %s; %q is in %s", own, parentID, hierarchy)
		}
		parents, err := parentsOf(ctx, w, own)
		if err != nil {
			return err
		}
		for up, steps := parentID, 0; up != ""; up, steps = parents[up], steps+1 {
			if up == id || steps > len(parents) {
				return store.Unprocessablef([]string{"parent_id"}, "must not be the node itself or one of its descendants, got %q", parentID)
			}
		}
		source.setParent(own, parentID)
		return nil
	})
}

// DeleteNode deletes a node, not its products. It returns NOT_FOUND, or UNPROCESSABLE while
// it has child nodes.
func (s *CatalogService) DeleteNode(ctx context.Context, actor store.Actor, id string) error {
	return s.write(ctx, actor, func(ctx context.Context, w *authoring.Writer) error {
		source := &NodeSource{}
		if err := w.Read(ctx, "node", "node", id, source); err != nil {
			return err
		}
		parents, err := parentsOf(ctx, w, source.Relationships.Hierarchy.ID())
		if err != nil {
			return err
		}
		var below []string
		for child, parent := range parents {
			if parent == id {
				below = append(below, child)
			}
		}
		if len(below) > 0 {
			slices.Sort(below)
			return store.Unprocessablef([]string{"id"}, "has the child nodes %s; delete or move them first", store.ListSome(below))
		}
		return removeRecorded(ctx, w, id)
	})
}

// setParent sets the parent, which may be the hierarchy.
func (n *NodeSource) setParent(hierarchyID, parentID string) {
	n.Relationships.Hierarchy = &authoring.LinkSource{Data: &authoring.RefSource{Type: "hierarchy", ID: hierarchyID}}
	n.Relationships.Parent = nil
	if parentID != hierarchyID {
		n.Relationships.Parent = &authoring.LinkSource{Data: &authoring.RefSource{Type: "node", ID: parentID}}
	}
}

// hierarchyOf returns the hierarchy of a parent node, or the parent if it is a hierarchy.
func hierarchyOf(ctx context.Context, w *authoring.Writer, parentID string) (string, error) {
	none := store.Unprocessablef([]string{"parent_id"}, "is neither a node nor a hierarchy: %q", store.Abbreviate(parentID))
	if !store.IsID(parentID) {
		return "", none
	}
	id, found, err := db.One(ctx, w.Session, db.Scalar[string], `
		SELECT id FROM hierarchy WHERE id = $1
		UNION ALL
		SELECT hierarchy_id FROM node WHERE id = $1`, parentID)
	if err == nil && !found {
		err = none
	}
	return id, err
}

// parentsOf maps the nodes of a hierarchy to their parent nodes; "" for top-level nodes.
func parentsOf(ctx context.Context, w *authoring.Writer, hierarchyID string) (map[string]string, error) {
	parents, err := db.Collect(ctx, w.Session, func(rows *sql.Rows) (parent db.Pair[string, string], err error) {
		var node NodeSource
		err = rows.Scan(db.JSON{Into: &node})
		return db.Pair[string, string]{Key: node.ID, Value: node.Relationships.Parent.ID()}, err
	}, `SELECT body FROM node WHERE hierarchy_id = $1 ORDER BY id`, hierarchyID)
	return db.PairMap(parents), err
}
