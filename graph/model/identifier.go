package model

import (
	"portico/store"
	"portico/store/catalog"
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

// AuthoredProductIdentifierInput names an authored product: exactly one member.
type AuthoredProductIdentifierInput struct {
	ID          *string `json:"id,omitzero"`
	Sku         *string `json:"sku,omitzero"`
	Slug        *string `json:"slug,omitzero"`
	ExternalRef *string `json:"externalRef,omitzero"`
}

// Key returns the path of the member that is set, what finds products by it, and its value.
func (by AuthoredProductIdentifierInput) Key() (argument string, key catalog.ProductKey, value string) {
	switch {
	case by.Sku != nil:
		return "by.sku", catalog.ProductBySKU, *by.Sku
	case by.Slug != nil:
		return "by.slug", catalog.ProductBySlug, *by.Slug
	case by.ExternalRef != nil:
		return "by.externalRef", catalog.ProductByExternalRef, *by.ExternalRef
	}
	return "by.id", catalog.ProductByID, store.LocalID(orEmpty(by.ID))
}

// CatalogNodeIdentifierInput names a node of the catalog: exactly one member.
type CatalogNodeIdentifierInput struct {
	ID   *string `json:"id,omitzero"`
	Slug *string `json:"slug,omitzero"`
	Path *string `json:"path,omitzero"`
}
