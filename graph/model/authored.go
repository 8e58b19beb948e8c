package model

import (
	"fmt"

	"portico/store"
	"portico/store/catalog"
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

// AuthoredProductFilter selects authored products. All members that are set must match.
type AuthoredProductFilter struct {
	Sku       *TextFilter            `json:"sku,omitzero"`
	ParentID  *string                `json:"parentId,omitzero"`
	Status    *catalog.ProductStatus `json:"status,omitzero"`
	UpdatedAt *DateTimeBounds        `json:"updatedAt,omitzero"`
}

// Filter converts the filter for the store. Nil matches everything.
func (f *AuthoredProductFilter) Filter() (filter catalog.ProductFilter, err error) {
	if f == nil {
		return filter, nil
	}
	filter = catalog.ProductFilter{Status: f.Status, UpdatedAt: f.UpdatedAt.ranges(store.SortUpdatedAt)}
	if f.ParentID != nil {
		filter.ParentID = new(store.LocalID(*f.ParentID))
	}
	filter.SKUs, err = f.Sku.atLeastOne("sku")
	if n := len(filter.SKUs); n > store.MaxFilterValues {
		err = &store.Error{Code: store.Invalid, Path: []string{"filter", "sku"}, Detail: fmt.Sprintf("must have at most %d values, got %d", store.MaxFilterValues, n)}
	}
	return filter, err
}

// AuthoredPrice is an authored price as a row of a response.
type AuthoredPrice struct {
	*catalog.AuthoredPrice
	BatchRow[*AuthoredPrice]
}

// Init implements Row.
func (p *AuthoredPrice) Init(source *catalog.AuthoredPrice, position BatchRow[*AuthoredPrice]) {
	p.AuthoredPrice, p.BatchRow = source, position
}

// AuthoredCatalogNode is an authored node as a row of a response.
type AuthoredCatalogNode struct {
	*catalog.AuthoredNode
	BatchRow[*AuthoredCatalogNode]
}

// NodeID returns the stored id.
func (n *AuthoredCatalogNode) NodeID() string { return n.ID }

// Init implements Row.
func (n *AuthoredCatalogNode) Init(source *catalog.AuthoredNode, position BatchRow[*AuthoredCatalogNode]) {
	n.AuthoredNode, n.BatchRow = source, position
}
