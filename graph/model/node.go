package model

import (
	"portico/store"
	"portico/store/release/segment"
)

// Node is an object with a global id.
type Node interface{ GlobalID() string }

// CatalogNode is a node in a group.
type CatalogNode struct {
	*segment.CatalogNode
	Sibling[*CatalogNode]
}

// GlobalID returns the id of the node. A hierarchy's root also has one as a node.
func (n CatalogNode) GlobalID() string { return store.GlobalID(store.TypeCatalogNode, n.ID) }

// NodeID is the service's own id.
func (n *CatalogNode) NodeID() string { return n.ID }

// Place implements Row.
func (n *CatalogNode) Place(of *segment.CatalogNode, place Sibling[*CatalogNode]) {
	n.CatalogNode, n.Sibling = of, place
}

// Hierarchy is the root of a category tree, in a group.
type Hierarchy struct {
	*segment.CatalogNode
	Sibling[*Hierarchy]
}

// NodeID is the service's own id.
func (h *Hierarchy) NodeID() string { return h.ID }

// Place implements Row.
func (h *Hierarchy) Place(of *segment.CatalogNode, place Sibling[*Hierarchy]) {
	h.CatalogNode, h.Sibling = of, place
}
