package model

import (
	"portico/store"
	"portico/store/release/segment"
)

// Node is an object with a global id.
type Node interface{ GlobalID() string }

// CatalogNode is a published node as a row of a response.
type CatalogNode struct {
	*segment.CatalogNode
	BatchRow[*CatalogNode]
}

// GlobalID returns the id of the node. A hierarchy's root also has one as a node.
func (n CatalogNode) GlobalID() string { return store.GlobalID(store.TypeCatalogNode, n.ID) }

// NodeID returns the stored id.
func (n *CatalogNode) NodeID() string { return n.ID }

// Slug returns the slug; nil for none.
func (n *CatalogNode) Slug() *string { return store.NonEmptyAt(&n.CatalogNode.Slug) }

// Description returns the display text; nil for none.
func (n *CatalogNode) Description() *string { return store.NonEmptyAt(&n.CatalogNode.Description) }

// Init implements Row.
func (n *CatalogNode) Init(source *segment.CatalogNode, position BatchRow[*CatalogNode]) {
	n.CatalogNode, n.BatchRow = source, position
}

// Hierarchy is the root of a category tree as a row of a response.
type Hierarchy struct {
	*segment.CatalogNode
	BatchRow[*Hierarchy]
}

// NodeID returns the stored id.
func (h *Hierarchy) NodeID() string { return h.ID }

// Slug returns the slug; nil for none.
func (h *Hierarchy) Slug() *string { return store.NonEmptyAt(&h.CatalogNode.Slug) }

// Description returns the display text; nil for none.
func (h *Hierarchy) Description() *string { return store.NonEmptyAt(&h.CatalogNode.Description) }

// Init implements Row.
func (h *Hierarchy) Init(source *segment.CatalogNode, position BatchRow[*Hierarchy]) {
	h.CatalogNode, h.BatchRow = source, position
}
