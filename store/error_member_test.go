package store_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestErrorPathsAreSnakeCase: all error paths in the code are in snake case.
func TestErrorPathsAreSnakeCase(t *testing.T) {
	t.Parallel()
	named := 0
	check := func(files *token.FileSet, within ast.Node) {
		ast.Inspect(within, func(n ast.Node) bool {
			if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING {
				named++
				require.Equal(t, strings.ToLower(text.Value), text.Value, "%s: a member of a fault", files.Position(text.Pos()))
			}
			_, calls := n.(*ast.CallExpr)
			return !calls // a call computes the name
		})
	}
	for _, folder := range []string{".", "../graph", "../rest"} {
		require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == "generated") {
				return filepath.SkipDir
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.KeyValueExpr:
					if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Path" {
						check(files, n.Value)
					}
				case *ast.CallExpr:
					switch called := nameOf(n.Fun); {
					case len(n.Args) == 0:
					case called == "Invalidf" || called == "Unprocessablef" || called == "NotFoundf":
						check(files, n.Args[0])
					case called == "At":
						for _, step := range n.Args {
							check(files, step)
						}
					}
				}
				return true
			})
			return nil
		}))
	}
	require.Greater(t, named, 100, "the faults that there are")
}

func nameOf(called ast.Expr) string {
	switch called := called.(type) {
	case *ast.Ident:
		return called.Name
	case *ast.SelectorExpr:
		return called.Sel.Name
	}
	return ""
}
