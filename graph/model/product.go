package model

import (
	"time"

	"portico/store"
)

// Product is a live product among the siblings it came with.
type Product struct {
	*store.Product
	Group *Group[*Product]
}

// NewProducts puts products side by side.
func NewProducts(list []*store.Product) []*Product {
	products := make([]*Product, len(list))
	for i, p := range list {
		products[i] = &Product{Product: p}
	}
	group := NewGroup(products, func(p *Product) string { return p.ID() })
	for _, p := range products {
		p.Group = group
	}
	return products
}

// ProductFile is a file and when it was attached.
type ProductFile struct {
	AttachedAt *time.Time
	File       *store.File
}

// Breadcrumb is a step on the way to a node.
type Breadcrumb struct{ UUID, Name, Slug string }

// BreadcrumbTrail is one way from a hierarchy to a product.
type BreadcrumbTrail struct {
	Node      *CatalogNode
	Ancestors []*Breadcrumb
}
