package model

import (
	"portico/store/catalog"
)

// AuthoredNode is an authored node as a row of a response.
type AuthoredNode struct {
	*catalog.AuthoredNode
	BatchRow[*AuthoredNode]
}

// NodeID returns the stored id.
func (n *AuthoredNode) NodeID() string { return n.ID }

// Init implements Row.
func (n *AuthoredNode) Init(source *catalog.AuthoredNode, position BatchRow[*AuthoredNode]) {
	n.AuthoredNode, n.BatchRow = source, position
}
