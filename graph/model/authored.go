package model

import (
	"portico/store/catalog"
	"portico/store/publish"
)

// AuthoredProduct is an authored product as a row of a response.
type AuthoredProduct struct {
	*catalog.AuthoredProduct
	BatchRow[*AuthoredProduct]
}

// Init implements Row.
func (p *AuthoredProduct) Init(source *catalog.AuthoredProduct, position BatchRow[*AuthoredProduct]) {
	p.AuthoredProduct, p.BatchRow = source, position
}

// OfProduct returns the stored id.
func (p *AuthoredProduct) OfProduct() string { return p.ID }

// CatalogPendingChange is a pending change as a row of a response.
type CatalogPendingChange struct {
	*publish.PendingResource
	Product *AuthoredProduct
}

// CatalogPendingChangeConnection is a page of pending changes.
type CatalogPendingChangeConnection struct {
	*Connection[*CatalogPendingChange]
	Complete bool
}

// NewPendingChanges returns the page.
func NewPendingChanges(pending *publish.Pending) *CatalogPendingChangeConnection {
	rows := make([]*CatalogPendingChange, len(pending.Items))
	var products []*catalog.AuthoredProduct
	for i, resource := range pending.Items {
		rows[i] = &CatalogPendingChange{PendingResource: resource}
		if resource.Product != nil {
			products = append(products, resource.Product)
		}
	}
	batch := NewBatch[AuthoredProduct](products)
	for _, row := range rows {
		if row.PendingResource.Product != nil {
			row.Product, batch = batch[0], batch[1:]
		}
	}
	return &CatalogPendingChangeConnection{NewConnection(pending.Slice, rows), pending.Complete}
}

// AuthoredNode is an authored node as a row of a response.
type AuthoredNode struct {
	*catalog.AuthoredNode
	BatchRow[*AuthoredNode]
}

// NodeID returns the stored id.
func (n *AuthoredNode) NodeID() string { return n.ID }

// Init implements Row.
func (n *AuthoredNode) Init(source *catalog.AuthoredNode, position BatchRow[*AuthoredNode]) {
	n.AuthoredNode, n.BatchRow = source, position
}
