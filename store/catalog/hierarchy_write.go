package catalog

import (
	"context"
	"database/sql"
	"errors"
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

func scanHierarchy(rows *sql.Rows) (*AuthoredHierarchy, error) {
	source := &hierarchySource{}
	var id string
	var created, updated int64
	if err := rows.Scan(&id, &created, &updated, db.JSON{Into: source}); err != nil {
		return nil, err
	}
	a := &source.Attributes
	return &AuthoredHierarchy{ID: source.ID, Name: a.Name, Slug: a.Slug, Description: a.Description,
		SEO: a.Text().SEO, Translations: authoredTranslations(a.Locales), CreatedAt: store.FromMicros(created), UpdatedAt: store.FromMicros(updated)}, nil
}

// AuthoredHierarchy returns a hierarchy as authored, or NOT_FOUND.
func (s *CatalogService) AuthoredHierarchy(ctx context.Context, id string) (*AuthoredHierarchy, error) {
	return authoring.ReadRow(ctx, s.db.Reader, HierarchyList, "hierarchy", id)
}

// AuthoredHierarchiesByID returns hierarchies by id; unknown ones are missing.
func (s *CatalogService) AuthoredHierarchiesByID(ctx context.Context, ids []string) (map[string]*AuthoredHierarchy, error) {
	byID, err := authoring.ReadRowsByID(ctx, s.db.Reader, HierarchyList, ids)
	return chargedByID(ctx, byID, err)
}

// AuthoredHierarchies lists all hierarchies by id.
func (s *CatalogService) AuthoredHierarchies(ctx context.Context, page store.Page) (*store.Slice[*AuthoredHierarchy], error) {
	list, err := db.List(ctx, s.db, HierarchyList, store.ListQuery{Page: page})
	return chargedList(ctx, list, err)
}

func (h *AuthoredHierarchy) textSize() int { return translationsSize(h.Translations) }

var HierarchyList = db.Listing[*AuthoredHierarchy]{
	Name: "hierarchy", Columns: `id, created_at, updated_at, body`, Table: "hierarchy", ID: "id", Scan: scanHierarchy,
	Key: func(h *AuthoredHierarchy, _ store.Sort) []any { return []any{h.ID} },
}

// NodeChange has the new values of a node or hierarchy; nil keeps a value. Languages that are not in the list stay.
type NodeChange struct {
	Name, Slug, Description *string
	SEO                     *SEOChange
	Translations            []*TranslationChange
	Nulls                   store.Nulls // seo, translations.0.name and so on, too
}

// applyNulls clears members that were sent as null.
func (c *NodeChange) applyNulls() error {
	return c.Nulls.Apply([]string{"name"}, map[string]func(){"slug": store.Clear(&c.Slug), "description": store.Clear(&c.Description)})
}

func (c NodeChange) apply(a *nodeAttributes) error {
	authoring.Assign(&a.Name, c.Name)
	authoring.Assign(&a.Slug, c.Slug)
	authoring.Assign(&a.Description, c.Description)
	nulls, patch := store.SetOf(c.Nulls), store.MergePatch{}
	faults := PatchTexts(c.SEO, c.Translations, func(member string) bool { return nulls[member] }, patch.Set)
	if len(faults) > 0 || len(patch) == 0 {
		return store.BatchError(faults)
	}
	changed := nodeAttributes{}
	err := store.Decode(store.MergeObject(store.Encode(a), store.Encode(patch), true), &changed)
	*a = changed
	return err
}

// placed returns an error with the paths of the change: those of translations are in the list.
func (c NodeChange) placed(err error) error {
	var faults store.Errors
	errors.As(err, &faults)
	for _, fault := range faults {
		if len(fault.Path) > 0 && fault.Path[0] == "locales" {
			fault.Path = TranslationPath(fault.Path[1:], c.Translations)
		}
	}
	return err
}

// CreateHierarchy creates a hierarchy; an empty id generates one. It returns INVALID for
// each wrong member, and UNPROCESSABLE if the id is taken.
func (s *CatalogService) CreateHierarchy(ctx context.Context, actor store.Actor, id string, change NodeChange) (*AuthoredHierarchy, error) {
	return writeRow(ctx, s, actor, HierarchyList, "hierarchy", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &hierarchySource{Type: "hierarchy", ID: authoring.OrNewID(&id)}
		source.Attributes.CreatedAt = store.FormatTime(w.Now)
		if err := change.apply(&source.Attributes); err != nil {
			return err
		}
		if err := requireUnusedID(ctx, w, "node", id); err != nil {
			return err
		}
		return w.Create(ctx, HierarchyKind, source)
	})
}

// UpdateHierarchy changes a hierarchy. It returns NOT_FOUND, or INVALID for each wrong
// member.
func (s *CatalogService) UpdateHierarchy(ctx context.Context, actor store.Actor, id string, change NodeChange) (*AuthoredHierarchy, error) {
	if err := change.applyNulls(); err != nil {
		return nil, err
	}
	row, err := changeRow(ctx, s, actor, HierarchyList, HierarchyKind, "hierarchy", id, func(_ context.Context, _ *authoring.Writer, source *hierarchySource) error {
		return change.apply(&source.Attributes)
	})
	return row, change.placed(err)
}

// DeleteHierarchy deletes a hierarchy. It returns NOT_FOUND, or UNPROCESSABLE while
// catalogs include it or it has nodes.
func (s *CatalogService) DeleteHierarchy(ctx context.Context, actor store.Actor, id string) error {
	return s.write(ctx, actor, func(ctx context.Context, w *authoring.Writer) error {
		if err := w.Read(ctx, "hierarchy", "hierarchy", id, &hierarchySource{}); err != nil {
			return err
		}
		including, err := CatalogsIncluding(ctx, w.Session)
		if err != nil {
			return err
		}
		var naming []string
		for _, use := range including {
			if use.Key == id {
				naming = append(naming, use.Value)
			}
		}
		if len(naming) > 0 {
			return store.Unprocessablef([]string{"id"}, "is in the catalogs %s; remove it from them first", store.ListSome(naming))
		}
		nodes, err := db.Collect(ctx, w.Session, db.Scalar[string], `SELECT id FROM node WHERE hierarchy_id = $1 ORDER BY id`, id)
		if err != nil {
			return err
		}
		if len(nodes) > 0 {
			return store.Unprocessablef([]string{"id"}, "has the nodes %s; delete them first", store.ListSome(nodes))
		}
		return w.Recorded(ctx, HierarchyKind, id, func() error { return w.Remove(ctx, "hierarchy", "hierarchy", id) })
	})
}

// CatalogsIncluding returns each hierarchy that a catalog includes with that catalog, in the order of the catalogs.
func CatalogsIncluding(ctx context.Context, in db.Session) (uses []db.Pair[string, string], err error) {
	catalogs, err := db.Collect(ctx, in, scanCatalog, `SELECT `+CatalogList.Columns+` FROM catalog ORDER BY sequence, id`)
	for _, c := range catalogs {
		for _, hierarchy := range store.Unique(c.HierarchyIDs) {
			uses = append(uses, db.Pair[string, string]{Key: hierarchy, Value: c.ID})
		}
	}
	return uses, err
}

// requireUnusedID rejects an id that is used in table. Nodes and hierarchies share their ids.
func requireUnusedID(ctx context.Context, w *authoring.Writer, table, id string) error {
	taken, err := w.Existing(ctx, table, store.ValidIDs([]string{id}))
	if err == nil && taken[id] {
		err = store.Unprocessablef([]string{"id"}, "is already used by a %s: %q; omit it to generate one", table, id)
	}
	return err
}
