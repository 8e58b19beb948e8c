package exchange

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange/check"
)

// TestKindsAreWhole: no kind lacks a part, is missing in a list, or refers to a kind that is
// not checked.
func TestKindsAreWhole(t *testing.T) {
	t.Parallel()
	known, sources := map[string]bool{}, map[string]bool{}
	for _, k := range check.Kinds {
		require.NotEmpty(t, k.Name, "a kind has no name")
		require.False(t, known[k.Name], "%s stands in kinds twice", k.Name)
		require.NotNil(t, k.Create, "%s cannot be read: it has no create", k.Name)
		require.NotNil(t, k.Write, "%s cannot be imported: it has no write", k.Name)
		require.NotNil(t, k.Export, "%s cannot be exported: it has no export", k.Name)
		require.True(t, k.After == "" || known[k.After], "%s comes after %s, which is no kind before it", k.Name, k.After)
		shape := reflect.TypeOf(k.Create()).Elem()
		member, has := shape.FieldByName("Type")
		require.True(t, has && member.Tag.Get("json") == "type", "%s is read into %s, which has no member Type that is written as type", k.Name, shape.Name())
		known[k.Name], sources[shape.Name()] = true, true
	}
	keys, declared, referred := 0, 0, 0
	for _, file := range parsedPackages(t) {
		ast.Inspect(file, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				if node.Recv != nil && node.Name.Name == "Key" && node.Type.Params.NumFields() == 0 {
					if of, ok := node.Recv.List[0].Type.(*ast.StarExpr); ok {
						name := of.X.(*ast.Ident).Name
						keys++
						require.True(t, sources[name], "%s has a key as sources have, and no kind that it is read by", name)
					}
				}
			case *ast.CompositeLit:
				if of, ok := node.Type.(*ast.SelectorExpr); ok && of.Sel.Name == "Kind" && len(node.Elts) > 0 {
					name := literal(t, node.Elts[0].(*ast.KeyValueExpr).Value)
					declared++
					require.True(t, known[name], "%s is declared as a kind and does not stand in kinds", name)
				}
			case *ast.CallExpr:
				if called, ok := node.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Refers" {
					name := literal(t, node.Args[1])
					referred++
					require.True(t, check.KindByName(name).Referred, "%s is referred to and not marked so: nobody would look for what is missing", name)
				}
			}
			return true
		})
	}
	require.Equal(t, []int{len(check.Kinds), len(check.Kinds)}, []int{keys, declared}, "it looks where they are")
	require.Positive(t, referred)
}

// parsedPackages parses the packages of all resources, without their tests.
func parsedPackages(t *testing.T) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob("../*/*.go")
	require.NoError(t, err)
	nested, err := filepath.Glob("../*/*/*.go")
	require.NoError(t, err)
	for _, name := range append(names, nested...) {
		if !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			require.NoError(t, err)
			files = append(files, file)
		}
	}
	return files
}

func literal(t *testing.T, expression ast.Expr) string {
	t.Helper()
	literal, ok := expression.(*ast.BasicLit)
	require.True(t, ok, "a name that is no literal")
	text, err := strconv.Unquote(literal.Value)
	require.NoError(t, err)
	return text
}
