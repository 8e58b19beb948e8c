package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph"
)

// The flags' defaults are those of the bounds, said once more for --help.
func TestBoundsOfDocumentsByDefault(t *testing.T) {
	t.Parallel()
	require.Equal(t, graph.DefaultBounds(), (&serve{}).documentBounds())
	require.Equal(t, graph.DefaultBounds(), (&serve{DocumentTokens: 15_000, DocumentDepth: 20, DocumentCost: 60_000}).documentBounds())
	bounds := (&serve{DocumentTokens: 1, DocumentDepth: 2, DocumentCost: 3}).documentBounds()
	require.Equal(t, []int{1, 2, 3}, []int{bounds.Tokens, bounds.Depth, bounds.Cost})
	require.ErrorContains(t, (&serve{DocumentDepth: -1}).Validate(), "--document-depth")
}
