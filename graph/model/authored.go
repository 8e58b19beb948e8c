package model

import "portico/store"

// AuthoredNode is a node as authored, among the siblings it came with.
type AuthoredNode struct {
	*store.AuthoredNode
	Sibling[*AuthoredNode]
}

// NodeID is the service's own id.
func (n *AuthoredNode) NodeID() string { return n.ID }

// Seat implements Row.
func (n *AuthoredNode) Seat(of *store.AuthoredNode, place Sibling[*AuthoredNode]) {
	n.AuthoredNode, n.Sibling = of, place
}
