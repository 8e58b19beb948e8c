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

// Catalog is a catalog as authored. Shoppers see changes once they are published.
type Catalog struct {
	ID           string
	Name         string
	HierarchyIDs []string
	Pricebooks   []PricebookRank
	Locale       string // language of the base texts; empty means the shop's
	Currency     string // empty means the shop's
	CreatedAt    time.Time
	Published    bool // it has a release
	Held         bool // rolled back: imports do not publish it
}

// PricebookRank is a price book of a catalog. The one with the highest priority that has
// a price for a product wins.
type PricebookRank struct {
	ID       string
	Priority int
}

// GlobalID returns the catalog's global id.
func (c *Catalog) GlobalID() string { return store.GlobalID(store.TypeCatalog, c.ID) }

// NewCatalog returns the catalog of a source; held is true if it was rolled back.
func NewCatalog(source *Source, createdAt time.Time, published, held bool) *Catalog {
	a := &source.Attributes
	c := &Catalog{ID: source.ID, Name: a.Name, HierarchyIDs: a.Hierarchies, Locale: a.Locale, Currency: a.Currency,
		CreatedAt: createdAt, Published: published, Held: held}
	for _, rank := range a.PricebookIDs {
		c.Pricebooks = append(c.Pricebooks, PricebookRank(rank))
	}
	return c
}

// scanCatalog reads the columns of CatalogList.
func scanCatalog(rows *sql.Rows) (*Catalog, error) {
	source := &Source{}
	var id string
	var created int64
	var release sql.NullInt64
	var held bool
	if err := rows.Scan(&id, &created, &release, db.JSON{Into: source}, &held); err != nil {
		return nil, err
	}
	return NewCatalog(source, store.FromMicros(created), release.Valid, held), nil
}

// Get returns a catalog as authored, or NOT_FOUND.
func (s *Service) Get(ctx context.Context, id string) (*Catalog, error) {
	return authoring.ReadRow(ctx, s.db.Reader, CatalogList, "catalog", id)
}

// CatalogExists returns NOT_FOUND unless there is a catalog with the id.
func CatalogExists(ctx context.Context, in db.Session, id string) error {
	_, found, err := db.One(ctx, in, db.Scalar[string], `SELECT id FROM catalog WHERE id = $1`, id)
	if err == nil && !found {
		return store.NotFoundf([]string{"catalog_id"}, "is not a catalog: %q", store.Abbreviate(id))
	}
	return err
}

// ByID returns catalogs by id; unknown ones are missing.
func (s *Service) ByID(ctx context.Context, ids []string) (map[string]*Catalog, error) {
	return authoring.ReadRowsByID(ctx, s.db.Reader, CatalogList, ids)
}

// List lists all catalogs by id, published or not.
func (s *Service) List(ctx context.Context, page store.Page) (*store.Slice[*Catalog], error) {
	return db.List(ctx, s.db, CatalogList, store.ListQuery{Page: page})
}

// CatalogList lists catalogs by id.
var CatalogList = db.Listing[*Catalog]{
	Name: "catalog", Columns: `id, created_at, release_id, body, ` + RolledBackSQL, Table: "catalog", ID: "id", Scan: scanCatalog,
	Key: func(c *Catalog, _ store.Sort) []any { return []any{c.ID} },
}

// CatalogsUsing returns each resource of a type that a catalog uses with that catalog, in the order of the catalogs. ids returns
// those of a catalog.
func CatalogsUsing(ctx context.Context, in db.Session, ids func(*Catalog) []string) (uses []db.Pair[string, string], err error) {
	catalogs, err := db.Collect(ctx, in, scanCatalog, `SELECT `+CatalogList.Columns+` FROM catalog ORDER BY sequence, id`)
	for _, c := range catalogs {
		for _, id := range store.Unique(ids(c)) {
			uses = append(uses, db.Pair[string, string]{Key: id, Value: c.ID})
		}
	}
	return uses, err
}

// Change has the new values of a catalog; nil keeps a value.
type Change struct {
	Name         *string
	HierarchyIDs []string
	Pricebooks   []PricebookRank
	Locale       *string
	Currency     *string
	Nulls        store.Nulls

	// The lists that HierarchyIDs and Pricebooks replace, as the writer read them (compare and set); nil for any.
	ExpectedHierarchyIDs []string
	ExpectedPricebooks   []PricebookRank
}

// applyNulls clears members that were sent as null.
func (c *Change) applyNulls() error {
	return c.Nulls.Apply([]string{"name"}, map[string]func(){
		"hierarchy_ids": store.ClearList(&c.HierarchyIDs), "pricebooks": store.ClearList(&c.Pricebooks),
		"locale": store.Clear(&c.Locale), "currency": store.Clear(&c.Currency)})
}

// apply sets the members of a source that change.
func (c Change) apply(source *Source) {
	a := &source.Attributes
	authoring.Assign(&a.Name, c.Name)
	authoring.AssignList(&a.Hierarchies, c.HierarchyIDs)
	authoring.Assign(&a.Locale, c.Locale)
	authoring.Assign(&a.Currency, c.Currency)
	if c.Pricebooks != nil {
		a.PricebookIDs = []RankedPricebook{}
	}
	for _, rank := range c.Pricebooks {
		a.PricebookIDs = append(a.PricebookIDs, RankedPricebook(rank))
	}
}

// Create creates a catalog; shoppers see it once it is published. An empty id
// generates one. It returns INVALID for each wrong member, and UNPROCESSABLE for an unknown
// hierarchy or price book or an id that is taken.
func (s *Service) Create(ctx context.Context, actor store.Actor, id string, change Change) (*Catalog, error) {
	return writeRow(ctx, s, actor, CatalogList, "catalog", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &Source{Type: "catalog", ID: authoring.OrNewID(&id)}
		source.Attributes.CreatedAt = store.FormatTime(w.Now)
		source.Attributes.Hierarchies, source.Attributes.PricebookIDs = []string{}, []RankedPricebook{}
		change.apply(source)
		return w.Create(ctx, CatalogKind, source)
	})
}

// Update changes a catalog; shoppers see it once it is published. It returns
// NOT_FOUND, CONFLICT if a list is not as expected, or the errors of Create.
func (s *Service) Update(ctx context.Context, actor store.Actor, id string, change Change) (*Catalog, error) {
	if err := change.applyNulls(); err != nil {
		return nil, err
	}
	return changeRow(ctx, s, actor, CatalogList, CatalogKind, "catalog", id, func(_ context.Context, _ *authoring.Writer, source *Source) error {
		now := NewCatalog(source, time.Time{}, false, false)
		change.apply(source)
		return cmp.Or(checkExpected("expected_hierarchy_ids", change.ExpectedHierarchyIDs, now.HierarchyIDs),
			checkExpected("expected_pricebooks", change.ExpectedPricebooks, now.Pricebooks))
	})
}

// Delete deletes a catalog. Shoppers no longer get it, and the next sweep deletes
// its releases. It returns NOT_FOUND, or UNPROCESSABLE while rules use it.
func (s *Service) Delete(ctx context.Context, actor store.Actor, id string) error {
	return s.write(ctx, actor, func(ctx context.Context, w *authoring.Writer) error {
		if err := w.Read(ctx, "catalog", "catalog", id, &Source{}); err != nil {
			return err
		}
		rules, err := db.Collect(ctx, w.Session, db.Scalar[string], `SELECT id FROM catalog_rule WHERE catalog_id = $1 ORDER BY sequence, id`, id)
		if err != nil {
			return err
		}
		if len(rules) > 0 {
			used := store.Referrers{}
			for _, rule := range rules {
				used.Add(store.AuditCatalogRule, rule)
			}
			return used.InUse([]string{"id"}, "cannot be deleted: it is used by %s; change or delete that first")
		}
		_, err = w.DeleteAll(ctx, CatalogKind, []string{id})
		return err
	})
}
