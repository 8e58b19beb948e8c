package model

import "portico/store"

// Node is anything with a global id.
type Node interface{ GlobalID() string }

// CatalogNode is a node among the siblings it came with.
type CatalogNode struct {
	*store.CatalogNode
	Group *Group[*CatalogNode]
}

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

// Hierarchy is the root of a tree of nodes.
type Hierarchy struct{ *store.CatalogNode }
