package model

import (
	"portico/store/catalog"
	"portico/store/publish"
)

// CatalogPendingChangeEdge is a row with its cursor.
type CatalogPendingChangeEdge = Edge[*CatalogPendingChange]

// CatalogPendingChange is a pending change as a row of a response.
type CatalogPendingChange struct {
	*publish.PendingResource
	Product *AuthoredProduct // as it is now; nil for another resource, or a deleted one
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
	authored := NewBatch[AuthoredProduct](products)
	for _, row := range rows {
		if row.PendingResource.Product != nil {
			row.Product, authored = authored[0], authored[1:]
		}
	}
	return &CatalogPendingChangeConnection{NewConnection(pending.Slice, rows), pending.Complete}
}
