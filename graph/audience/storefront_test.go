package audience_test

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/graph/audience"
	"portico/graph/document"
	"portico/internal/auth"
)

var update = flag.Bool("update", false, "rewrite testdata/storefront.txt")

// storefrontFile lists what the scopes of a storefront reach, one coordinate a line.
const storefrontFile = "testdata/storefront.txt"

// TestStorefrontReachesOnlyWhatIsPublic compares every type, field, argument and member of an input that a storefront's
// token reaches with testdata/storefront.txt. Anyone may have such a token. Before you add a line, check that every
// shopper may read it. Otherwise give the coordinate a scope in internal/auth/scopes.go.
func TestStorefrontReachesOnlyWhatIsPublic(t *testing.T) {
	t.Parallel()
	var reached []string
	for _, definition := range audience.New(document.Schema()).For(auth.ShopperScopes()).Schema.Types {
		if definition.BuiltIn {
			continue
		}
		if len(definition.Fields) == 0 {
			reached = append(reached, definition.Name)
		}
		for _, field := range definition.Fields {
			if strings.HasPrefix(field.Name, "__") {
				continue
			}
			reached = append(reached, definition.Name+"."+field.Name)
			for _, argument := range field.Arguments {
				reached = append(reached, definition.Name+"."+field.Name+"("+argument.Name+":)")
			}
		}
	}
	slices.Sort(reached)
	if *update {
		require.NoError(t, os.WriteFile(storefrontFile, []byte(strings.Join(reached, "\n")+"\n"), 0o600))
	}
	text, err := os.ReadFile(storefrontFile)
	require.NoError(t, err)
	public := strings.Fields(string(text))
	without := func(list, others []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(coordinate string) bool { return slices.Contains(others, coordinate) })
	}
	require.Empty(t, without(reached, public), "anyone could read it: give it a scope, or add it to %s by -update", storefrontFile)
	require.Empty(t, without(public, reached), "nothing leads to it: remove it from %s by -update", storefrontFile)
}
