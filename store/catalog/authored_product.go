package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
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

// AuthoredProduct is a product as authored, published or not: the attributes of its stored line, and what has another
// form in the schema.
type AuthoredProduct struct {
	ProductAttributes
	ID                   string
	Status               ProductStatus
	CreatedAt, UpdatedAt time.Time

	relationships ProductRelationships
	size          int // of the stored line, in bytes
}

// AuthoredProductFile is a file of a product, as authored.
type AuthoredProductFile struct {
	ID         string
	Alt        string     // empty if not set
	AttachedAt *time.Time // nil if unknown
}

// AuthoredProductComponent is a part of a bundle, as authored.
type AuthoredProductComponent struct {
	Key string
	Component
}

// AuthoredRelatedProducts is the related products of a kind, as authored.
type AuthoredRelatedProducts struct {
	Kind       string
	ProductIDs []string
}

// AuthoredProductAttribute is a product's value of a declared attribute, as authored.
type AuthoredProductAttribute struct {
	Key   string
	Value json.RawMessage
}

// GlobalID returns the global id of the authored product.
func (p *AuthoredProduct) GlobalID() string { return store.GlobalID(store.TypeAuthoredProduct, p.ID) }

func (p *AuthoredProduct) textSize() int { return p.size }

// SEO returns the texts for search engines.
func (p *AuthoredProduct) SEO() SEOText { return p.ProductAttributes.SEO.orEmpty() }

// Translations returns the texts in other languages, by language.
func (p *AuthoredProduct) Translations() []*AuthoredTranslation {
	return authoredTranslations(p.Locales)
}

// ParentID returns the parent of a variant; nil for other products.
func (p *AuthoredProduct) ParentID() *string { return linkedID(p.relationships.Parent) }

// MainImageID returns the main image; nil for none.
func (p *AuthoredProduct) MainImageID() *string { return linkedID(p.relationships.MainImage) }

func linkedID(link *authoring.LinkSource) *string {
	if id := link.ID(); id != "" {
		return &id
	}
	return nil
}

// Variations returns the properties in which the children differ, in the order in which they were written.
func (p *AuthoredProduct) Variations() []Variation {
	list := make([]Variation, len(p.ProductAttributes.Variations))
	for i, v := range p.ProductAttributes.Variations {
		list[i] = Variation{ID: v.ID, Name: v.Name, SortOrder: v.SortOrder, Options: v.Options}
	}
	return list
}

// Files returns the files, in order.
func (p *AuthoredProduct) Files() (files []AuthoredProductFile) {
	if p.relationships.Files == nil {
		return nil
	}
	for _, file := range p.relationships.Files.Data {
		authored := AuthoredProductFile{ID: file.ID, Alt: file.Alt}
		if file.CreatedAt != "" {
			authored.AttachedAt = new(store.StoredTime(file.CreatedAt))
		}
		files = append(files, authored)
	}
	return files
}

// ComponentProductIDs returns the products of a bundle, in order.
func (p *AuthoredProduct) ComponentProductIDs() []string {
	if p.relationships.ComponentProducts == nil {
		return nil
	}
	return RefIDs(*p.relationships.ComponentProducts)
}

// Components returns the parts of a bundle, by sort order, then key.
func (p *AuthoredProduct) Components() (components []AuthoredProductComponent) {
	for _, key := range p.ComponentKeys() {
		components = append(components, AuthoredProductComponent{key, p.ProductAttributes.Components[key]})
	}
	return components
}

// Related returns the related products, by kind.
func (p *AuthoredProduct) Related() (related []AuthoredRelatedProducts) {
	for _, kind := range slices.Sorted(maps.Keys(p.relationships.Related)) {
		related = append(related, AuthoredRelatedProducts{kind, p.relationships.Related[kind]})
	}
	return related
}

// Attributes returns the values of declared attributes, by key.
func (p *AuthoredProduct) Attributes() (attributes []AuthoredProductAttribute) {
	for _, key := range slices.Sorted(maps.Keys(p.CustomAttributes)) {
		attributes = append(attributes, AuthoredProductAttribute{key, p.CustomAttributes[key]})
	}
	return attributes
}

func scanAuthoredProduct(rows *sql.Rows) (*AuthoredProduct, error) {
	var source ProductSource
	p := &AuthoredProduct{}
	var created, updated int64
	var body sql.RawBytes // decoded before the next row, without a copy of its own
	if err := rows.Scan(&p.ID, &created, &updated, &body); err != nil {
		return nil, err
	}
	if err := store.Decode(body, &source); err != nil {
		return nil, err
	}
	p.ProductAttributes, p.relationships, p.size = source.Attributes, source.Relationships, len(body)
	p.Status = ProductStatus(source.Attributes.Status)
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
	byID, err := authoring.ReadRowsByID(ctx, s.db.Reader, ProductList, ids)
	return chargedByID(ctx, byID, err)
}

// AuthoredProducts lists products of a status, or all for nil, by id or SortUpdatedAt.
func (s *CatalogService) AuthoredProducts(ctx context.Context, status *ProductStatus, sort store.Sort, page store.Page) (*store.Slice[*AuthoredProduct], error) {
	l := ProductList
	l.Conditions = OfStatus(status)
	list, err := db.List(ctx, s.db, l, store.ListQuery{Sort: sort, Page: page})
	return chargedList(ctx, list, err)
}
