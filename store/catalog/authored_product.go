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

// AuthoredProduct is a product as authored, published or not.
type AuthoredProduct struct {
	ID, Name, SKU, Slug  string
	Status               ProductStatus
	CreatedAt, UpdatedAt time.Time

	size int // of the stored line, in bytes
}

// chargeProducts accounts for reading stored lines.
func chargeProducts(ctx context.Context, list []*AuthoredProduct) error {
	size := 0
	for _, p := range list {
		size += p.size
	}
	return store.Charge(ctx, size)
}

// GlobalID returns the global id of the authored product.
func (p *AuthoredProduct) GlobalID() string { return store.GlobalID(store.TypeAuthoredProduct, p.ID) }

func scanAuthoredProduct(rows *sql.Rows) (*AuthoredProduct, error) {
	var source struct { // of a ProductSource, which takes ten times as long
		Attributes struct {
			Name   string `json:"name"`
			SKU    string `json:"sku"`
			Slug   string `json:"slug"`
			Status string `json:"status"`
		} `json:"attributes"`
	}
	p := &AuthoredProduct{}
	var created, updated int64
	var body sql.RawBytes // decoded before the next row, without a copy of its own
	if err := rows.Scan(&p.ID, &created, &updated, &body); err != nil {
		return nil, err
	}
	if err := store.Decode(body, &source); err != nil {
		return nil, err
	}
	p.size = len(body)
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

// AuthoredProduct returns a product as authored, or NOT_FOUND.
func (s *CatalogService) AuthoredProduct(ctx context.Context, id string) (*AuthoredProduct, error) {
	return authoring.ReadRow(ctx, s.db.Reader, ProductList, "product", id)
}

// AuthoredProductsByID returns products by id; unknown ones are missing.
func (s *CatalogService) AuthoredProductsByID(ctx context.Context, ids []string) (map[string]*AuthoredProduct, error) {
	return authoring.ReadRowsByID(ctx, s.db.Reader, ProductList, ids)
}

// AuthoredProducts lists products of a status, or all for nil, by id or SortUpdatedAt.
func (s *CatalogService) AuthoredProducts(ctx context.Context, status *ProductStatus, sort store.Sort, page store.Page) (*store.Slice[*AuthoredProduct], error) {
	l := ProductList
	l.Conditions = OfStatus(status)
	list, err := db.List(ctx, s.db, l, store.ListQuery{Sort: sort, Page: page})
	if err != nil {
		return nil, err
	}
	return list, chargeProducts(ctx, list.Items)
}
