package shop

import (
	"go/ast"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPromotionTypesAreWhole(t *testing.T) {
	t.Parallel()
	for _, kind := range promotionTypes {
		require.NotNil(t, kind.needs, "%s does not say what it needs of a schema; if nothing, let it say so", kind.name)
	}
	for _, file := range parsedPackage(t) {
		ast.Inspect(file, func(node ast.Node) bool {
			declared, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := declared.Type.(*ast.Ident); ok && of.Name == "PromotionType" && len(declared.Values) == 1 {
				name := PromotionType(literal(t, declared.Values[0]))
				require.True(t, slices.Contains(PromotionTypes(), name), "%s is declared and does not stand in promotionTypes", name)
			}
			return true
		})
	}
}
