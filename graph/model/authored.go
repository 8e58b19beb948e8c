package model

import "portico/store/catalog"

// AuthoredProduct is an authored product as a row of a response.
type AuthoredProduct struct {
	*catalog.AuthoredProduct
	BatchRow[*AuthoredProduct]
}

// Init implements Row.
func (p *AuthoredProduct) Init(source *catalog.AuthoredProduct, position BatchRow[*AuthoredProduct]) {
	p.AuthoredProduct, p.BatchRow = source, position
}

// OfProduct returns the id of the published product, which is the same.
func (p *AuthoredProduct) OfProduct() string { return p.ID }

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
