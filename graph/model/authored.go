package model

import (
	"portico/store/catalog"
)

// AuthoredNode is a node as authored, in a group.
type AuthoredNode struct {
	*catalog.AuthoredNode
	Sibling[*AuthoredNode]
}

// NodeID is the service's own id.
func (n *AuthoredNode) NodeID() string { return n.ID }

// Place implements Row.
func (n *AuthoredNode) Place(of *catalog.AuthoredNode, place Sibling[*AuthoredNode]) {
	n.AuthoredNode, n.Sibling = of, place
}
