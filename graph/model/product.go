package model

import (
	"time"

	"portico/store/catalog"
	"portico/store/release"
)

// Product is a live product, in a group.
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

// ProductStatus is the publication status of a product.
type ProductStatus string

// ProductLive is the only status: drafts are not published.
const ProductLive ProductStatus = "live"

// Status returns the product's status.
func (p *Product) Status() ProductStatus { return ProductStatus(p.Product.Status()) }

// ProductFile is a file, and when it was attached.
type ProductFile struct {
	AttachedAt *time.Time
	File       *catalog.File
}

// Breadcrumb is a step on the path to a node.
type Breadcrumb struct{ UUID, Name, Slug string }

// BreadcrumbTrail is a path from a hierarchy to a product.
type BreadcrumbTrail struct {
	Node      *CatalogNode
	Ancestors []*Breadcrumb
}
