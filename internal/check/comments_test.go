package check

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCommentsNameWhatExists requires of each comment that the Go names in it exist: doc links in brackets, and dotted
// words that begin with a package or a type of this module. A comment of a function or type that begins with a Go name
// begins with that of what it describes.
func TestCommentsNameWhatExists(t *testing.T) {
	t.Parallel()
	schema, err := os.ReadFile("schema.graphqls")
	require.NoError(t, err)
	names := newKnownNames(checkedPackages(t, "."), string(schema))
	for _, p := range names.own {
		t.Run(p.path, func(t *testing.T) {
			tests, err := filepath.Glob(filepath.Join(p.folder, "*_test.go"))
			require.NoError(t, err)
			p.files = maps.Clone(p.files)
			for _, name := range tests {
				file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution|parser.ParseComments)
				require.NoError(t, err)
				p.files[filepath.Base(name)] = file
			}
			declared := declaredNames(p.files)
			var found []string
			for _, file := range p.files {
				for _, group := range file.Comments {
					for _, comment := range group.List {
						for _, name := range namesInComment(comment.Text) {
							if !declared[name] && !names.exists(p.types, name) {
								found = append(found, fmt.Sprintf("%s: there is no %s", fset.Position(comment.Pos()), name))
							}
						}
					}
				}
				found = append(found, misnamedComments(fset, file)...)
			}
			slices.Sort(found)
			if len(found) > 0 {
				t.Error(strings.Join(found, "\n"))
			}
		})
	}
}

var (
	docLink    = regexp.MustCompile(`(?:^|[\s(])\[\*?((?:[a-z]\w*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\](?:$|[^(:\w\[])`)
	dottedName = regexp.MustCompile(`(?:^|[^\w./"@$%-])((?:[A-Za-z]\w*\.){1,2}[A-Za-z]\w*)`)
)

// namesInComment returns the Go names of a comment. If a dotted word begins with a small letter, its next part must begin
// with a capital: others are files, hosts and JSON members. A word before * is the beginning of several names.
func namesInComment(comment string) (names []string) {
	if strings.HasPrefix(comment, "//go:") {
		return nil
	}
	for _, found := range docLink.FindAllStringSubmatch(comment, -1) {
		names = append(names, found[1])
	}
	for _, at := range dottedName.FindAllStringSubmatchIndex(comment, -1) {
		name, after := comment[at[2]:at[3]], comment[at[3]:]
		parts := strings.Split(name, ".")
		if first, second := parts[0][0], parts[1][0]; first >= 'a' && second >= 'a' || strings.HasPrefix(after, "*") {
			continue
		}
		names = append(names, name)
	}
	return names
}

// declaredNames returns what files declare at their top: names, and members as Type.Name.
func declaredNames(files map[string]*ast.File) map[string]bool {
	declared := map[string]bool{}
	for _, file := range files {
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					declared[d.Name.Name] = true
				} else {
					declared[receiverName(d)+"."+d.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range s.Names {
							declared[name.Name] = true
						}
					case *ast.TypeSpec:
						declared[s.Name.Name] = true
						if fields, ok := s.Type.(*ast.StructType); ok {
							for _, field := range fields.Fields.List {
								for _, name := range field.Names {
									declared[s.Name.Name+"."+name.Name] = true
								}
							}
						}
					}
				}
			}
		}
	}
	return declared
}

// receiverName returns the name of the type that a method belongs to.
func receiverName(method *ast.FuncDecl) string {
	receiver := method.Recv.List[0].Type
	for {
		switch r := receiver.(type) {
		case *ast.StarExpr:
			receiver = r.X
		case *ast.IndexExpr:
			receiver = r.X
		case *ast.IndexListExpr:
			receiver = r.X
		default:
			return r.(*ast.Ident).Name
		}
	}
}

var (
	goName       = regexp.MustCompile(`^// ([A-Za-z]\w*)( [a-z]|$)`)
	testFunction = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)`)
)

// misnamedComments lists comments of functions that begin with the name of something else. Those of tests may begin with
// any word.
func misnamedComments(fset *token.FileSet, file *ast.File) (found []string) {
	for _, declaration := range file.Decls {
		d, ok := declaration.(*ast.FuncDecl)
		if !ok || d.Doc == nil || d.Recv == nil && testFunction.MatchString(d.Name.Name) {
			continue
		}
		if first := goName.FindStringSubmatch(d.Doc.List[0].Text); first != nil && first[1] != d.Name.Name {
			found = append(found, fmt.Sprintf("%s: the comment of %s begins with %s", fset.Position(d.Doc.Pos()), d.Name.Name, first[1]))
		}
	}
	return found
}

// knownNames are the packages of this module and those that they import, and the types of the schema.
type knownNames struct {
	own      []checkedPackage
	packages map[string][]*types.Package // by name
	schema   string
}

func newKnownNames(own []checkedPackage, schema string) knownNames {
	names := knownNames{own: own, packages: map[string][]*types.Package{}, schema: schema}
	seen := map[string]bool{}
	add := func(p *types.Package) {
		if !seen[p.Path()] {
			seen[p.Path()] = true
			names.packages[p.Name()] = append(names.packages[p.Name()], p)
		}
	}
	for _, p := range own {
		add(p.types) // before what others import, which has exported names alone
	}
	for _, p := range own {
		for _, imported := range p.types.Imports() {
			add(imported)
			for _, indirect := range imported.Imports() {
				add(indirect)
			}
		}
	}
	return names
}

// exists reports whether a name of a comment exists, seen from a package. Dotted words that begin with neither a
// package nor a type that is known are not judged.
func (n knownNames) exists(from *types.Package, name string) bool {
	first, rest, dotted := strings.Cut(name, ".")
	if packages := n.packages[first]; dotted && len(packages) > 0 {
		return slices.ContainsFunc(packages, func(p *types.Package) bool { return hasName(p, rest) })
	}
	if hasName(from, name) || n.inSchema(first, rest) {
		return true
	}
	known := !dotted
	for _, packages := range n.packages {
		for _, p := range packages {
			if hasName(p, name) {
				return true
			}
			known = known || p.Scope().Lookup(first) != nil
		}
	}
	return !known
}

// hasName reports whether a package declares a name, or a member of it.
func hasName(p *types.Package, name string) bool {
	name, member, _ := strings.Cut(name, ".")
	declared := p.Scope().Lookup(name)
	if declared == nil || member == "" {
		return declared != nil
	}
	member, _, _ = strings.Cut(member, ".")
	object, _, _ := types.LookupFieldOrMethod(declared.Type(), true, p, member)
	return object != nil
}

// inSchema reports whether the schema has a type with the member.
func (n knownNames) inSchema(typeName, member string) bool {
	_, body, ok := strings.Cut(n.schema, " "+typeName+" ")
	body, _, _ = strings.Cut(body, "\n}")
	return ok && regexp.MustCompile(`\n  `+regexp.QuoteMeta(member)+`\b`).MatchString(body)
}
