package catalog

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// ProductStatus tells whether a product is for sale once it is published.
type ProductStatus string

// The statuses.
const (
	ProductLive  ProductStatus = "live"
	ProductDraft ProductStatus = "draft"
)

// AuthoredProduct is a product as authored, published or not. ContentsOf returns the rest of it.
type AuthoredProduct struct {
	ID, Name, SKU, Slug  string
	ExternalRef          string
	Status               ProductStatus
	CreatedAt, UpdatedAt time.Time

	line []byte // as it is stored
}

// GlobalID returns the global id of the authored product.
func (p *AuthoredProduct) GlobalID() string { return store.GlobalID(store.TypeAuthoredProduct, p.ID) }

func (p *AuthoredProduct) textSize() int { return 2 * len(p.line) } // what the driver read, and the copy

func scanAuthoredProduct(rows *sql.Rows) (*AuthoredProduct, error) {
	var source struct { // of a ProductSource, which takes twice as long
		Attributes struct {
			Name   string `json:"name"`
			SKU    string `json:"sku"`
			Slug   string `json:"slug"`
			Status string `json:"status"`
			Ref    string `json:"external_ref"`
		} `json:"attributes"`
	}
	p := &AuthoredProduct{}
	var created, updated int64
	if err := rows.Scan(&p.ID, &created, &updated, &p.line); err != nil {
		return nil, err
	}
	if err := store.Decode(p.line, &source); err != nil {
		return nil, err
	}
	a := &source.Attributes
	p.Name, p.SKU, p.Slug, p.ExternalRef, p.Status = a.Name, a.SKU, a.Slug, a.Ref, ProductStatus(a.Status)
	p.CreatedAt, p.UpdatedAt = store.FromMicros(created), store.FromMicros(updated)
	return p, nil
}

// ProductList lists authored products.
var ProductList = db.Listing[*AuthoredProduct]{
	Name: "authored_product", Columns: `id, created_at, updated_at, body`, Table: "product", ID: "id", Scan: scanAuthoredProduct,
	Key: func(p *AuthoredProduct, sort store.Sort) []any {
		if sort.By == store.SortUpdatedAt {
			return []any{store.Micros(p.UpdatedAt), p.ID}
		}
		return []any{p.ID}
	},
}

// ProductFilter selects authored products. All members must match.
type ProductFilter struct {
	IDs       []string // nil is any
	SKUs      []string // of one of these SKUs; nil is any
	ParentID  *string  // variants of this product; nil is any
	Status    *ProductStatus
	Search    string // parts of the name or SKU; ignores case and accents
	UpdatedAt []store.Range
}

// Conditions returns the filter for a list, without its ranges and its search.
func (f ProductFilter) Conditions() (conditions []db.Condition) {
	if f.IDs != nil {
		conditions = append(conditions, db.OneOf("id", store.ValidIDs(f.IDs)))
	}
	if f.SKUs != nil {
		conditions = append(conditions, db.OneOf("sku", storable(f.SKUs)))
	}
	if f.ParentID != nil {
		parents := store.ValidIDs([]string{*f.ParentID})
		conditions = append(conditions, db.OneOf("parent_id", parents), db.Condition{Clause: "parent_id <> ''"}) // as the index has it
	}
	if f.Status != nil {
		conditions = append(conditions, db.Condition{Clause: "live = ?", Values: []any{*f.Status == ProductLive}})
	}
	return conditions
}

// ProductKey is what authored products are found by. Of several products with one value it finds the one with the smallest id.
type ProductKey struct {
	column string // empty for the id
	of     func(*AuthoredProduct) string
}

// The keys.
var (
	ProductByID          = ProductKey{}
	ProductBySKU         = ProductKey{"sku", func(p *AuthoredProduct) string { return p.SKU }}
	ProductBySlug        = ProductKey{"slug", func(p *AuthoredProduct) string { return p.Slug }}
	ProductByExternalRef = ProductKey{"external_ref", func(p *AuthoredProduct) string { return p.ExternalRef }}
)

// AuthoredProductsBy returns products by the values of a key; unknown ones are missing.
func (s *Service) AuthoredProductsBy(ctx context.Context, key ProductKey, values []string) (map[string]*AuthoredProduct, error) {
	if key.column == "" {
		return s.AuthoredProductsByID(ctx, values)
	}
	rows, err := db.CollectIn(ctx, s.db.Reader, scanAuthoredProduct, storable(values), `SELECT `+ProductList.Columns+` FROM product WHERE id IN (
		SELECT MIN(id) FROM product WHERE `+key.column+` <> '' AND `+key.column+` IN ($in) GROUP BY `+key.column+`)`)
	return chargedByID(ctx, store.IndexBy(rows, key.of), err)
}

// AuthoredProductsByID returns products by id; unknown ones are missing.
func (s *Service) AuthoredProductsByID(ctx context.Context, ids []string) (map[string]*AuthoredProduct, error) {
	byID, err := authoring.ReadRowsByID(ctx, s.db.Reader, ProductList, ids)
	return chargedByID(ctx, byID, err)
}

// AuthoredProducts lists the products that match a filter, by id or SortUpdatedAt. The default is the latter if the filter
// bounds it.
func (s *Service) AuthoredProducts(ctx context.Context, filter ProductFilter, sort store.Sort, page store.Page) (*store.Slice[*AuthoredProduct], error) {
	l := ProductList
	l.Conditions = filter.Conditions()
	if sort.By == "" && len(filter.UpdatedAt) > 0 {
		sort.By = store.SortUpdatedAt
	}
	return searchedList(ctx, s.db, l, search{"text_folded", filter.Search}, store.ListQuery{Sort: sort, Ranges: filter.UpdatedAt, Page: page})
}
