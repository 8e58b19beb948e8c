package shop

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilterAttributesAreIndexed(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, a := range filterAttributes {
		require.False(t, known[a.name], "%s stands in filterAttributes twice", a.name)
		require.True(t, a.values != nil || a.name == "id", "%s has no values: its index would be empty, and no product found by it", a.name)
		known[a.name] = true
	}
}
