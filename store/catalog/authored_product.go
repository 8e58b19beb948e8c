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
	p.Name, p.SKU, p.Slug, p.Status = a.Name, a.SKU, a.Slug, ProductStatus(a.Status)
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

// OfStatus is the condition that products have a status; nil is any.
func OfStatus(status *ProductStatus) []db.Condition {
	if status == nil {
		return nil
	}
	return []db.Condition{{Clause: "live = ?", Values: []any{*status == ProductLive}}}
}

// AuthoredProductsByID returns products by id; unknown ones are missing.
func (s *Service) AuthoredProductsByID(ctx context.Context, ids []string) (map[string]*AuthoredProduct, error) {
	byID, err := authoring.ReadRowsByID(ctx, s.db.Reader, ProductList, ids)
	return chargedByID(ctx, byID, err)
}

// AuthoredProducts lists products of a status, or all for nil, by id or SortUpdatedAt.
func (s *Service) AuthoredProducts(ctx context.Context, status *ProductStatus, sort store.Sort, page store.Page) (*store.Slice[*AuthoredProduct], error) {
	l := ProductList
	l.Conditions = OfStatus(status)
	list, err := db.List(ctx, s.db, l, store.ListQuery{Sort: sort, Page: page})
	return chargedList(ctx, list, err)
}
