package model

import "portico/store"

// AuthoredNode is a node as authored, among the siblings it came with.
type AuthoredNode struct {
	*store.AuthoredNode
	Group *Group[*AuthoredNode]
}

// NewAuthoredNodes puts nodes side by side.
func NewAuthoredNodes(list []*store.AuthoredNode) []*AuthoredNode {
	nodes := make([]*AuthoredNode, len(list))
	for i, n := range list {
		nodes[i] = &AuthoredNode{AuthoredNode: n}
	}
	group := NewGroup(nodes, func(n *AuthoredNode) string { return n.ID })
	for _, n := range nodes {
		n.Group = group
	}
	return nodes
}
