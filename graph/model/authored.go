package model

import "portico/store/shop"

// AuthoredNode is a node as authored, among the siblings it came with.
type AuthoredNode struct {
	*shop.AuthoredNode
	Sibling[*AuthoredNode]
}

// NodeID is the service's own id.
func (n *AuthoredNode) NodeID() string { return n.ID }

// Seat implements Row.
func (n *AuthoredNode) Seat(of *shop.AuthoredNode, place Sibling[*AuthoredNode]) {
	n.AuthoredNode, n.Sibling = of, place
}
