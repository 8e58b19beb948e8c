package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// Catalog is a catalog as authored: what it publishes. A change is seen by
// shoppers once it is published.
type Catalog struct {
	ID           string
	Name         string
	HierarchyIDs []string
	Pricebooks   []PricebookRank
	Locale       string // of the base texts; empty means the store's
	Currency     string // empty means the store's
	CreatedAt    time.Time
	Published    bool // it has a release
	Held         bool // it was rolled back, so imports do not publish it
}

// PricebookRank gives a price book its place in a catalog: the highest
// priority with a price for a product wins.
type PricebookRank struct {
	ID       string
	Priority int
}

// GlobalID is the catalog's id over all types.
func (c *Catalog) GlobalID() string { return store.GlobalID(store.TypeCatalog, c.ID) }

func NewCatalog(source *CatalogSource, createdAt time.Time, published, held bool) *Catalog {
	a := &source.Attributes
	c := &Catalog{ID: source.ID, Name: a.Name, HierarchyIDs: a.Hierarchies, Locale: a.Locale, Currency: a.Currency,
		CreatedAt: createdAt, Published: published, Held: held}
	for _, rank := range a.PricebookIDs {
		c.Pricebooks = append(c.Pricebooks, PricebookRank(rank))
	}
	return c
}

func scanCatalog(rows *sql.Rows) (*Catalog, error) {
	source := &CatalogSource{}
	var id string
	var created int64
	var release sql.NullInt64
	var body []byte
	var held bool
	if err := rows.Scan(&id, &created, &release, &body, &held); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(body, source); err != nil {
		return nil, err
	}
	return NewCatalog(source, store.FromMicros(created), release.Valid, held), nil
}

// Catalog returns a catalog as authored; NOT_FOUND when there is none.
func (s *CatalogService) Catalog(ctx context.Context, id string) (*Catalog, error) {
	return authoring.Authored(ctx, s.db.Reader, CatalogList, "catalog", id)
}

// CatalogsByID returns several catalogs; an unknown one is left out.
func (s *CatalogService) CatalogsByID(ctx context.Context, ids []string) (map[string]*Catalog, error) {
	return authoring.AuthoredByID(ctx, s.db.Reader, CatalogList, ids)
}

// Catalogs lists the catalogs, published or not, by id.
func (s *CatalogService) Catalogs(ctx context.Context, page store.Page) (*store.Slice[*Catalog], error) {
	return db.List(ctx, s.db, CatalogList, store.ListQuery{Page: page})
}

var CatalogList = db.Listing[*Catalog]{
	Name: "catalog", Columns: `id, created_at, release_id, body, ` + HeldSQL, Table: "catalog", ID: "id", Scan: scanCatalog,
	Key: func(c *Catalog, _ store.Sort) []any { return []any{c.ID} },
}

// CatalogChange names what a catalog is to be; nil leaves a member as it is.
type CatalogChange struct {
	Name         *string
	HierarchyIDs []string
	Pricebooks   []PricebookRank
	Locale       *string
	Currency     *string
	Nulls        store.Nulls
}

// applyNulls clears the members that are null.
func (c *CatalogChange) applyNulls() error {
	return c.Nulls.Apply([]string{"name"}, map[string]func(){
		"hierarchy_ids": store.ClearList(&c.HierarchyIDs), "pricebooks": store.ClearList(&c.Pricebooks),
		"locale": store.Clear(&c.Locale), "currency": store.Clear(&c.Currency)})
}

func (c CatalogChange) apply(source *CatalogSource) {
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

// CreateCatalog makes a catalog, which shows nothing until it is published; an
// empty id is a new one. INVALID names each member that is wrong;
// UNPROCESSABLE when a hierarchy or price book is unknown or the id is taken.
func (s *CatalogService) CreateCatalog(ctx context.Context, actor store.Actor, id string, change CatalogChange) (*Catalog, error) {
	return authorRow(ctx, s, actor, CatalogList, "catalog", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &CatalogSource{Type: "catalog", ID: authoring.OrNewID(&id)}
		source.Attributes.CreatedAt = store.FormatTime(w.Now)
		source.Attributes.Hierarchies, source.Attributes.PricebookIDs = []string{}, []RankedPricebook{}
		change.apply(source)
		return w.Create(ctx, CatalogKind, source)
	})
}

// UpdateCatalog changes a catalog, which shoppers see once it is published.
// NOT_FOUND when there is none; INVALID and UNPROCESSABLE as for a new one.
func (s *CatalogService) UpdateCatalog(ctx context.Context, actor store.Actor, id string, change CatalogChange) (*Catalog, error) {
	if err := change.applyNulls(); err != nil {
		return nil, err
	}
	return authorRow(ctx, s, actor, CatalogList, "catalog", &id, func(ctx context.Context, w *authoring.Writer) error {
		source := &CatalogSource{}
		if err := w.Read(ctx, "catalog", "catalog", id, source); err != nil {
			return err
		}
		change.apply(source)
		return w.Replace(ctx, CatalogKind, source)
	})
}

// DeleteCatalog removes a catalog. Nobody is led to it any more, and the next
// sweep takes its releases, in batches. NOT_FOUND when there is none;
// UNPROCESSABLE as long as rules name it.
func (s *CatalogService) DeleteCatalog(ctx context.Context, actor store.Actor, id string) error {
	return s.author(ctx, actor, func(ctx context.Context, w *authoring.Writer) error {
		if err := w.Read(ctx, "catalog", "catalog", id, &CatalogSource{}); err != nil {
			return err
		}
		rules, err := db.Collect(ctx, w.Session, db.Scalar[string], `SELECT id FROM catalog_rule WHERE catalog_id = $1 ORDER BY sequence, id`, id)
		if err != nil {
			return err
		}
		if len(rules) > 0 {
			return store.Unprocessablef([]string{"id"}, "is the catalog that the rules %s lead to; delete them, or give them another, first", authoring.Some(rules))
		}
		if _, err := w.Exec(ctx, `
			UPDATE release SET superseded_at = `+w.LaterSQL(`CAST($2 AS BIGINT)`)+`
			WHERE catalog_id = $1 AND state = $3 AND superseded_at = 0`, id, store.Micros(w.Now), ReleasePublished); err != nil {
			return err
		}
		w.Topics = append(w.Topics, db.TopicCatalog)
		return w.Remove(ctx, "catalog", "catalog", id)
	})
}
