package model

import (
	"time"

	"portico/store/catalog"
	"portico/store/release"
)

// Product is a published product as a row of a response.
type Product struct {
	*release.Product
	BatchRow[*Product]
}

// ProductID returns the stored id.
func (p *Product) ProductID() string { return p.ID() }

// Init implements Row.
func (p *Product) Init(source *release.Product, position BatchRow[*Product]) {
	p.Product, p.BatchRow = source, position
}

// ProductStatus is the publication status of a product.
type ProductStatus string

// ProductLive is the only status: drafts are not published.
const ProductLive ProductStatus = "live"

// Status returns the product's status.
func (p *Product) Status() ProductStatus { return ProductStatus(p.Product.Status()) }

// ProductFile is a file of a product. AttachedAt is nil if the merchant gave no time.
type ProductFile struct {
	AttachedAt *time.Time
	File       *catalog.File
}

// Breadcrumb is a node on the path to a node.
type Breadcrumb struct{ UUID, Name, Slug string }

// BreadcrumbTrail is a path from a hierarchy to a product: Node has the product.
type BreadcrumbTrail struct {
	Node      *CatalogNode
	Ancestors []*Breadcrumb
}
