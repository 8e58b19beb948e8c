package model

import "portico/store"

// Node is anything with a global id.
type Node interface{ GlobalID() string }

// CatalogNode is a node among the siblings it came with.
type CatalogNode struct {
	*store.CatalogNode
	Sibling[*CatalogNode]
}

// GlobalID is the id under which the node is found as a node, a hierarchy's
// root too.
func (n CatalogNode) GlobalID() string { return store.GlobalID(store.TypeCatalogNode, n.ID) }

// NodeID is the service's own id.
func (n *CatalogNode) NodeID() string { return n.ID }

// NewNodes puts nodes side by side.
func NewNodes(list []*store.CatalogNode) []*CatalogNode {
	return NewSiblings(list, func(row *CatalogNode, n *store.CatalogNode, place Sibling[*CatalogNode]) {
		*row = CatalogNode{n, place}
	})
}

// Hierarchy is the root of a tree of nodes, among the siblings it came with.
type Hierarchy struct {
	*store.CatalogNode
	Sibling[*Hierarchy]
}

// NodeID is the service's own id.
func (h *Hierarchy) NodeID() string { return h.ID }

// NewHierarchies puts hierarchies side by side.
func NewHierarchies(list []*store.CatalogNode) []*Hierarchy {
	return NewSiblings(list, func(row *Hierarchy, n *store.CatalogNode, place Sibling[*Hierarchy]) { *row = Hierarchy{n, place} })
}
