package graph_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gqlgen silently generates a second type for a Go type whose package is not in autobind of
// gqlgen.yml.
func TestOnlyInputsAndPayloadsAreGenerated(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "generated/models.go", nil, 0)
	require.NoError(t, err)
	for _, d := range file.Decls {
		made, ok := d.(*ast.GenDecl)
		if !ok || made.Tok != token.TYPE {
			continue
		}
		for _, spec := range made.Specs {
			name := spec.(*ast.TypeSpec).Name.Name
			plain := strings.HasSuffix(name, "Input") || strings.HasSuffix(name, "Payload")
			require.True(t, plain, "gqlgen made the type %s: name ours in gqlgen.yml, or its room under autobind", name)
		}
	}
}
