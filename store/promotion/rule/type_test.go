package rule

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPromotionTypesAreComplete(t *testing.T) {
	t.Parallel()
	for _, kind := range promotionTypes {
		require.NotNil(t, kind.needs, "%s has no needs function; one that needs nothing must say so", kind.name)
	}
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			declared, ok := node.(*ast.ValueSpec)
			if !ok {
				return true
			}
			if of, ok := declared.Type.(*ast.Ident); ok && of.Name == "PromotionType" && len(declared.Values) == 1 {
				text, err := strconv.Unquote(declared.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				name := PromotionType(text)
				require.True(t, slices.Contains(PromotionTypes(), name), "%s is not in promotionTypes", name)
			}
			return true
		})
	}
}
