package release

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFilterAttributesAreIndexed(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, a := range Filterable {
		require.False(t, known[a.Name], "%s stands in filterAttributes twice", a.Name)
		require.True(t, a.Values != nil || a.Name == "id", "%s has no values: its index would be empty, and no product found by it", a.Name)
		known[a.Name] = true
	}
}
