package check

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// largestCircle is how many files of one package may refer to each other in a circle.
const largestCircle = 3

// checkedPackage is a package of this module with its syntax and types, without its tests.
type checkedPackage struct {
	path   string
	folder string
	types  *types.Package
	files  map[string]*ast.File // by base name
	info   *types.Info
}

// fset has the positions of all files that checkedPackages parses.
var fset = token.NewFileSet()

// checkedFolders are the packages by folder. Checking those of the module takes a second of CPU time, so tests share them and must
// not change them.
var checkedFolders = struct {
	sync.Mutex
	packages map[string][]checkedPackage
}{packages: map[string][]checkedPackage{}}

// checkedPackages parses and type-checks, once, every package that people write of the module in a folder.
// Dependencies come from the compiler's export data.
func checkedPackages(t *testing.T, folder string) []checkedPackage {
	t.Helper()
	checkedFolders.Lock()
	defer checkedFolders.Unlock()
	if known := checkedFolders.packages[folder]; known != nil {
		return known
	}
	type listed struct {
		ImportPath, Dir, Export string
		GoFiles                 []string
		Module                  *struct{ Main bool }
	}
	command := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,Module", "./...")
	command.Dir = folder
	var stderr strings.Builder
	command.Stderr = &stderr
	output, err := command.Output()
	require.NoError(t, err, stderr.String())
	exports := map[string]string{}
	var own []listed
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listed
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && !strings.HasSuffix(p.ImportPath, "/generated") {
			own = append(own, p)
		}
	}
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var checked []checkedPackage
	for _, p := range own {
		c := checkedPackage{path: p.ImportPath, folder: p.Dir, files: map[string]*ast.File{},
			info: &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Instances: map[*ast.Ident]types.Instance{}}}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
			require.NoError(t, err)
			files = append(files, file)
			c.files[name] = file
		}
		c.types, err = (&types.Config{Importer: imports}).Check(p.ImportPath, fset, files, c.info)
		require.NoError(t, err)
		checked = append(checked, c)
	}
	require.NotEmpty(t, checked)
	checkedFolders.packages[folder] = checked
	return checked
}

// references returns, for each file, the files of the same package whose declarations it names.
func (c checkedPackage) references(fset *token.FileSet) map[string][]string {
	found := map[string]map[string]bool{}
	fileOf := func(p token.Pos) string { return filepath.Base(fset.Position(p).Filename) }
	for identifier, object := range c.info.Uses {
		switch o := object.(type) {
		case *types.Func:
			object = o.Origin()
		case *types.Var:
			object = o.Origin()
		}
		if object.Pkg() != c.types || !object.Pos().IsValid() {
			continue
		}
		from, to := fileOf(identifier.Pos()), fileOf(object.Pos())
		if from == to {
			continue
		}
		if found[from] == nil {
			found[from] = map[string]bool{}
		}
		found[from][to] = true
	}
	list := map[string][]string{}
	for from, to := range found {
		list[from] = slices.Sorted(maps.Keys(to))
	}
	return list
}

// circles returns the sets of more than one node in which each reaches each
// other (strongly connected components, by Tarjan's algorithm).
func circles(edges map[string][]string) [][]string {
	index, low, onStack := map[string]int{}, map[string]int{}, map[string]bool{}
	var stack []string
	var found [][]string
	var visit func(node string)
	visit = func(node string) {
		index[node] = len(index) + 1
		low[node] = index[node]
		stack = append(stack, node)
		onStack[node] = true
		for _, next := range edges[node] {
			if index[next] == 0 {
				visit(next)
				low[node] = min(low[node], low[next])
			} else if onStack[next] {
				low[node] = min(low[node], index[next])
			}
		}
		if low[node] != index[node] {
			return
		}
		start := slices.Index(stack, node)
		component := slices.Clone(stack[start:])
		stack = stack[:start]
		for _, member := range component {
			onStack[member] = false
		}
		if len(component) > 1 {
			found = append(found, slices.Sorted(slices.Values(component)))
		}
	}
	for _, node := range slices.Sorted(maps.Keys(edges)) {
		if index[node] == 0 {
			visit(node)
		}
	}
	slices.SortFunc(found, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return found
}

func TestCircles(t *testing.T) {
	t.Parallel()
	require.Empty(t, circles(map[string][]string{"a": {"b", "c"}, "b": {"c"}}))
	require.Equal(t, [][]string{{"a", "b", "c"}, {"d", "e"}},
		circles(map[string][]string{"a": {"b", "d"}, "b": {"c"}, "c": {"a"}, "d": {"e"}, "e": {"d"}}))
}

// TestPackagesReadWell requires that files of one package refer to each other in small circles only, that no local has
// the name of something that its package declares or its file imports, and that no key is joined by hand.
func TestPackagesReadWell(t *testing.T) {
	t.Parallel()
	for _, p := range slices.Concat(checkedPackages(t, "."), checkedPackages(t, "internal/bench")) {
		t.Run(p.path, func(t *testing.T) {
			for _, circle := range circles(p.references(fset)) {
				if len(circle) > largestCircle {
					t.Errorf("%d files refer to each other in a circle: %s. Move a declaration to the file that uses it, or split the package.",
						len(circle), strings.Join(circle, " "))
				}
			}
			if shadows := p.shadows(fset); len(shadows) > 0 {
				t.Error(strings.Join(shadows, "\n"))
			}
			if joined := p.joinedKeys(fset); len(joined) > 0 {
				t.Error(strings.Join(joined, "\n"))
			}
		})
	}
}

// partsOfKeys are the functions that make keys of parts, with the number of arguments before the parts.
var partsOfKeys = map[string]int{
	"portico/internal/cachekey.New": 0, "portico/internal/cachekey.AppendPart": 1, "portico/graph/model.Load": 2, "portico/internal/dependency.NewKey": 1,
}

// joinedKeys lists caches whose keys have a text that is no cachekey.Key, and parts of keys that are joined of texts.
func (c checkedPackage) joinedKeys(fset *token.FileSet) (found []string) {
	for identifier, made := range c.info.Instances {
		if object := c.info.Uses[identifier]; object.Pkg() == nil || !strings.HasPrefix(object.Pkg().Path(), "github.com/maypok86/otter") || object.Name() != "Cache" {
			continue
		}
		if key := made.TypeArgs.At(0); hasText(key) {
			found = append(found, fmt.Sprintf("%s: the key %s of a cache has a string; use a cachekey.Key", fset.Position(identifier.Pos()), key))
		}
	}
	for _, file := range c.files {
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok {
				return true
			}
			before, ok := partsOfKeys[c.callee(call)]
			for _, part := range call.Args[min(before, len(call.Args)):] {
				if ok && c.joins(part) {
					found = append(found, fmt.Sprintf("%s: a part of a key is joined of texts; pass each as a part", fset.Position(part.Pos())))
				}
			}
			return true
		})
	}
	slices.Sort(found)
	return found
}

// hasText reports whether a type is string, or a struct with a field that is, besides cachekey.Key.
func hasText(key types.Type) bool {
	if key.String() == "portico/internal/cachekey.Key" {
		return false
	}
	if fields, ok := key.Underlying().(*types.Struct); ok {
		for field := range fields.Fields() {
			if hasText(field.Type()) {
				return true
			}
		}
	}
	return types.Identical(key, types.Typ[types.String])
}

// callee returns the package and name of the function that is called; empty for a method.
func (c checkedPackage) callee(call *ast.CallExpr) string {
	fun := call.Fun
	if selected, ok := fun.(*ast.SelectorExpr); ok {
		fun = selected.Sel
	}
	if identifier, ok := fun.(*ast.Ident); ok {
		if object, ok := c.info.Uses[identifier].(*types.Func); ok && object.Signature().Recv() == nil && object.Pkg() != nil {
			return object.Pkg().Path() + "." + object.Name()
		}
	}
	return ""
}

// joins reports whether an expression makes one text of several. A function literal is no text.
func (c checkedPackage) joins(part ast.Expr) (found bool) {
	ast.Inspect(part, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncLit:
			return false
		case *ast.BinaryExpr:
			found = found || node.Op == token.ADD
		case *ast.CallExpr:
			switch c.callee(node) {
			case "strings.Join", "fmt.Sprintf", "fmt.Sprintln":
				found = true
			case "fmt.Sprint":
				found = found || len(node.Args) > 1
			}
		}
		return true
	})
	return found
}

// shadows lists the variables inside functions that hide a name of the package, or an import of their file.
func (c checkedPackage) shadows(fset *token.FileSet) []string {
	packages := map[string]string{} // names by path
	for _, imported := range c.types.Imports() {
		packages[imported.Path()] = imported.Name()
	}
	imports := map[string]map[string]bool{} // names by file
	for _, file := range c.files {
		names := map[string]bool{}
		for _, spec := range file.Imports {
			path, _ := strconv.Unquote(spec.Path.Value) // the file compiles
			if spec.Name != nil {
				names[spec.Name.Name] = true
			} else {
				names[packages[path]] = true
			}
		}
		imports[fset.Position(file.Pos()).Filename] = names
	}
	var found []string
	for identifier, object := range c.info.Defs {
		variable, ok := object.(*types.Var)
		if !ok || variable.IsField() || variable.Parent() == c.types.Scope() {
			continue
		}
		at := fset.Position(identifier.Pos())
		if hidden := c.types.Scope().Lookup(identifier.Name); hidden != nil {
			found = append(found, fmt.Sprintf("%s: the local %s hides the %s of %s; rename one of them",
				at, identifier.Name, identifier.Name, filepath.Base(fset.Position(hidden.Pos()).Filename)))
		}
		if imports[at.Filename][identifier.Name] && identifier.Name != "_" {
			found = append(found, fmt.Sprintf("%s: the local %s hides the package; rename it", at, identifier.Name))
		}
	}
	slices.Sort(found)
	return found
}
