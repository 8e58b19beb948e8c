package model

import (
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
	"portico/store/release/segment"
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

// Components returns the parts of a bundle by sort order, then key.
func (p *Product) Components() []ProductComponent {
	components, options := make([]ProductComponent, len(p.Product.Components())), 0
	for i, component := range p.Product.Components() {
		components[i] = ProductComponent{component, p, options}
		options += len(component.Options)
	}
	return components
}

// OptionProductIDs returns the products that the bundle's components offer, each once.
func (p *Product) OptionProductIDs() []string {
	var ids []string
	for _, component := range p.Product.Components() {
		for _, option := range component.Options {
			ids = append(ids, option.ID)
		}
	}
	return store.Unique(ids)
}

// ProductComponent is a part of a bundle.
type ProductComponent struct {
	release.ProductComponent
	of     *Product
	before int // options of the components before it
}

// Options returns the products to choose from.
func (c ProductComponent) Options() []ComponentOption {
	options := make([]ComponentOption, len(c.ProductComponent.Options))
	for i, option := range c.ProductComponent.Options {
		options[i] = ComponentOption{option, c.of, c.before + i}
	}
	return options
}

// ComponentOption is a product to choose for a component.
type ComponentOption struct {
	catalog.ComponentOption
	Bundle   *Product // that has the component
	Position int      // among the options of the bundle
}

// ProductFile is a file of a product. AttachedAt is nil if the merchant gave no time.
type ProductFile struct {
	AttachedAt *time.Time
	File       *catalog.File
	Of         *Product // that shows it
}

// Alt is the file's alternative text.
func (f *ProductFile) Alt() string { return f.Of.Alt(f.File.ID) }

// MainImageAlt is the alternative text of the main image; nil without one.
func (p *Product) MainImageAlt() *string {
	if p.MainImageID() == "" {
		return nil
	}
	return new(p.Alt(p.MainImageID()))
}

// Breadcrumb is a node on the path to a node.
type Breadcrumb struct {
	UUID, Name string
	Slug       *string // nil for none

	node  *segment.CatalogNode
	above map[string]*segment.CatalogNode
}

// NewBreadcrumb returns the breadcrumb of a node. above has at least all nodes above it, by id.
func NewBreadcrumb(node *segment.CatalogNode, above map[string]*segment.CatalogNode) *Breadcrumb {
	return &Breadcrumb{UUID: node.ID, Name: node.Name, Slug: store.NonEmptyAt(&node.Slug), node: node, above: above}
}

// Path returns the path of the node's page, or nil if it or a node above has no slug.
func (b *Breadcrumb) Path() *string {
	return store.NonEmpty(release.NodePath(b.node, b.above))
}

// BreadcrumbTrail is a path from a hierarchy to a product: CatalogNode has the product.
type BreadcrumbTrail struct {
	CatalogNode *CatalogNode
	Ancestors   []*Breadcrumb
}
