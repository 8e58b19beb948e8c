package model

import (
	"portico/store"
	"portico/store/release"
)

// ProductIdentifierInput names a product: exactly one member.
type ProductIdentifierInput struct {
	ID   *string `json:"id,omitzero"`
	Sku  *string `json:"sku,omitzero"`
	Slug *string `json:"slug,omitzero"`
	Path *string `json:"path,omitzero"`
}

// Key returns what finds the product.
func (by ProductIdentifierInput) Key() release.ProductKey {
	return release.ProductKey{ID: store.LocalID(orEmpty(by.ID)), SKU: orEmpty(by.Sku), Slug: orEmpty(by.Slug), Path: orEmpty(by.Path)}
}

// CatalogNodeIdentifierInput names a node of the catalog: exactly one member.
type CatalogNodeIdentifierInput struct {
	ID   *string `json:"id,omitzero"`
	Slug *string `json:"slug,omitzero"`
	Path *string `json:"path,omitzero"`
}
