package model

import "portico/store"

// AuthoredNode is a node as authored, among the siblings it came with.
type AuthoredNode struct {
	*store.AuthoredNode
	Sibling[*AuthoredNode]
}

// NodeID is the service's own id.
func (n *AuthoredNode) NodeID() string { return n.ID }

// NewAuthoredNodes puts nodes side by side.
func NewAuthoredNodes(list []*store.AuthoredNode) []*AuthoredNode {
	return NewSiblings(list, func(row *AuthoredNode, n *store.AuthoredNode, place Sibling[*AuthoredNode]) {
		*row = AuthoredNode{n, place}
	})
}
