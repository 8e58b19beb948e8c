package model

import "portico/store"

// Node is anything with a global id.
type Node interface{ GlobalID() string }

// CatalogNode is a node among the siblings it came with.
type CatalogNode struct {
	*store.CatalogNode
	Group *Group[*CatalogNode]
}

// GlobalID is the id under which the node is found as a node, a hierarchy's
// root too.
func (n CatalogNode) GlobalID() string { return store.GlobalID(store.TypeCatalogNode, n.ID) }

// NewNodes puts nodes side by side.
func NewNodes(list []*store.CatalogNode) []*CatalogNode {
	nodes := make([]*CatalogNode, len(list))
	for i, n := range list {
		nodes[i] = &CatalogNode{CatalogNode: n}
	}
	group := NewGroup(nodes, func(n *CatalogNode) string { return n.ID })
	for _, n := range nodes {
		n.Group = group
	}
	return nodes
}

// Hierarchy is the root of a tree of nodes, among the siblings it came with.
type Hierarchy struct {
	*store.CatalogNode
	Group *Group[*Hierarchy]
}

// NewHierarchies puts hierarchies side by side.
func NewHierarchies(list []*store.CatalogNode) []*Hierarchy {
	hierarchies := make([]*Hierarchy, len(list))
	for i, n := range list {
		hierarchies[i] = &Hierarchy{CatalogNode: n}
	}
	group := NewGroup(hierarchies, func(h *Hierarchy) string { return h.ID })
	for _, h := range hierarchies {
		h.Group = group
	}
	return hierarchies
}
