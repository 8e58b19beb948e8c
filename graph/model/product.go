package model

import (
	"time"

	"portico/store/catalog"
	"portico/store/release"
)

// Product is a live product among the siblings it came with.
type Product struct {
	*release.Product
	Sibling[*Product]
}

// ProductID is the service's own id.
func (p *Product) ProductID() string { return p.ID() }

// Place implements Row.
func (p *Product) Place(of *release.Product, place Sibling[*Product]) {
	p.Product, p.Sibling = of, place
}

// ProductStatus is whether a product is for sale.
type ProductStatus string

// ProductLive is for sale; no other product is released.
const ProductLive ProductStatus = "live"

// Status is what the release has of it.
func (p *Product) Status() ProductStatus { return ProductStatus(p.Product.Status()) }

// ProductFile is a file and when it was attached.
type ProductFile struct {
	AttachedAt *time.Time
	File       *catalog.File
}

// Breadcrumb is a step on the way to a node.
type Breadcrumb struct{ UUID, Name, Slug string }

// BreadcrumbTrail is one way from a hierarchy to a product.
type BreadcrumbTrail struct {
	Node      *CatalogNode
	Ancestors []*Breadcrumb
}
