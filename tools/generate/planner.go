package main

import (
	_ "embed"
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed plan.gotpl
var planTemplate string

// planner is a plugin of gqlgen that writes plan.go: for each object type of
// the schema a function that writes a field of it, and for each type of value
// one that writes the value, from the same bindings that gqlgen's own code is
// made from.
type planner struct{}

// Name implements plugin.Plugin.
func (planner) Name() string { return "planner" }

// GenerateCode implements plugin.CodeGenerator.
func (planner) GenerateCode(data *codegen.Data) error {
	b := &build{Data: data}
	b.gather()
	return templates.Render(templates.Options{
		PackageName:     data.Config.Exec.Package,
		Filename:        filepath.Join(filepath.Dir(data.Config.Exec.Filename), "plan.go"),
		Template:        planTemplate,
		Data:            b,
		GeneratedHeader: true,
		Packages:        data.Config.Packages,
		PruneOptions:    data.Config.GetPruneOptions(),
	})
}

// liveFields change while all that surrounds them stays the same, so that a
// kept answer leaves holes for them.
var liveFields = []string{"Product.stock"}

// keptTypes are the object types of whose rows fragments are kept, and keptEdges
// what they have kept with them. What hangs at those edges is in the identity of
// such a row too, but for the fields that a publication changes by itself.
var (
	keptTypes      = []string{"Product"}
	keptEdges      = []string{"Product.breadcrumbs", "Product.files", "Product.mainImage"}
	releasedFields = []string{"CatalogNode.publishedAt", "Product.publishedAt"}
)

// build is what the template is filled with.
type build struct {
	*codegen.Data
	Plans codegen.Objects         // object types that a query can come to
	Kinds []*codegen.Interface    // interfaces, likewise
	Refs  []*config.TypeReference // what fields answer, and the elements of it
}

// gather follows the query's fields to all that they can answer.
func (b *build) gather() {
	seen := map[string]bool{}
	var object func(*codegen.Object)
	var reference func(*config.TypeReference)
	reference = func(ref *config.TypeReference) {
		if seen[ref.UniquenessKey()] {
			return
		}
		seen[ref.UniquenessKey()] = true
		b.Refs = append(b.Refs, ref)
		if ref.IsSlice() || ref.IsPtrToSlice() || ref.IsPtrToIntf() || (ref.IsPtrToPtr() && ref.Marshaler == nil && !ref.IsMarshaler) {
			reference(ref.Elem())
			return
		}
		switch ref.Definition.Kind {
		case ast.Object:
			object(b.Objects.ByName(ref.Definition.Name))
		case ast.Interface, ast.Union:
			kind := b.Interfaces[ref.Definition.Name]
			if !seen["interface "+kind.Name] {
				seen["interface "+kind.Name] = true
				b.Kinds = append(b.Kinds, kind)
				for _, implementor := range kind.Implementors {
					object(b.Objects.ByName(implementor.Name))
				}
			}
		}
	}
	object = func(o *codegen.Object) {
		if seen["object "+o.Name] {
			return
		}
		seen["object "+o.Name] = true
		b.Plans = append(b.Plans, o)
		for _, field := range o.Fields {
			if !field.IsReserved() {
				reference(field.TypeReference)
			}
		}
	}
	object(b.QueryRoot)
	slices.SortFunc(b.Plans, func(x, y *codegen.Object) int { return strings.Compare(x.Name, y.Name) })
	slices.SortFunc(b.Refs, func(x, y *config.TypeReference) int {
		return strings.Compare(x.UniquenessKey(), y.UniquenessKey())
	})
}

func coordinate(f *codegen.Field) string { return f.Object.Name + "." + f.Name }

// OfSchema tells whether a field is one of introspection, __typename aside.
func (b *build) OfSchema(f *codegen.Field) bool {
	return f.IsReserved() && f.Name != "__typename"
}

// Live tells whether a field is one of those that change by themselves.
func (b *build) Live(f *codegen.Field) bool {
	return slices.Contains(liveFields, coordinate(f))
}

// Kept tells whether fragments are kept of the rows of an object type.
func (b *build) Kept(o *codegen.Object) bool { return slices.Contains(keptTypes, o.Name) }

// KeptEdge tells whether they hold what is found at an edge.
func (b *build) KeptEdge(f *codegen.Field) bool { return slices.Contains(keptEdges, coordinate(f)) }

// Apart tells whether a field is more than what its row shows of itself.
func (b *build) Apart(f *codegen.Field) bool {
	return b.Fails(f) || b.Live(f) || len(f.Args) > 0 || slices.Contains(releasedFields, coordinate(f))
}

// Writer is the function that writes a value.
func (b *build) Writer(ref *config.TypeReference) string { return "write" + ref.UniquenessKey() }

// Call is a field's value, in Go: a call or a variable.
func (b *build) Call(f *codegen.Field) string {
	arguments := strings.ReplaceAll(f.CallArgs(), "fc.Args[", "arguments[")
	switch {
	case f.IsResolver:
		return "x.resolvers." + f.Object.Name + "()." + f.GoFieldName + "(" + arguments + ")"
	case f.IsMethod():
		return f.GoReceiverName + "." + f.GoFieldName + "(" + arguments + ")"
	case f.IsVariable():
		return f.GoReceiverName + "." + f.GoFieldName
	}
	panic("a field of a kind that no plan knows: " + f.Object.Name + "." + f.Name)
}

// Fails tells whether a field's value comes with an error.
func (b *build) Fails(f *codegen.Field) bool {
	if f.VOkFunc || f.HasHaser || f.HasDirectives() {
		panic("a field bound in a way that no plan knows: " + f.Object.Name + "." + f.Name)
	}
	return f.IsResolver || f.IsMethod() && !f.NoErr
}

// Deref tells whether values are behind a pointer more than the elements they
// are written from.
func (b *build) Deref(ref *config.TypeReference) bool {
	return ref.IsPtrToSlice() || ref.IsPtrToIntf() || (ref.IsPtrToPtr() && ref.Marshaler == nil && !ref.IsMarshaler)
}

// Leaf is the expression that writes a scalar or an enum called v, and whether
// it may turn out to be null.
func (b *build) Leaf(ref *config.TypeReference) leaf {
	value := "v"
	switch {
	case ref.IsTargetNilable() && !ref.IsNilable():
		value = "&v"
	case !ref.IsTargetNilable() && ref.IsNilable():
		value = "*v"
	}
	if ref.IsMarshaler {
		if ref.IsContext {
			return leaf{"x.MarshalContext(ctx, " + value + ")", true}
		}
		return leaf{"x.Marshal(" + value + ")", true}
	}
	switch {
	case ref.HasEnumValues():
		value = ref.MarshalFunc() + "[" + value + "]"
	case ref.CastType != nil:
		value = templates.CurrentImports.LookupType(ref.CastType) + "(" + value + ")"
	}
	name := ref.Marshaler.Name()
	if ref.Marshaler.Pkg().Path() == "github.com/99designs/gqlgen/graphql" && !ref.IsContext {
		switch name {
		case "MarshalString", "MarshalID":
			return leaf{"x.String(" + value + ")", false}
		case "MarshalInt", "MarshalInt8", "MarshalInt16", "MarshalInt32", "MarshalInt64":
			return leaf{"x.Int(int64(" + value + "))", false}
		case "MarshalBoolean":
			return leaf{"x.Boolean(" + value + ")", false}
		}
	}
	if twin := ref.Marshaler.Pkg().Scope().Lookup("Append" + strings.TrimPrefix(name, "Marshal")); twin != nil && !ref.IsContext {
		return leaf{"x.Appended(" + templates.Call(twin.(*types.Func)) + "(x.Answer(), " + value + "))", true}
	}
	if ref.IsContext {
		return leaf{"x.MarshalContext(ctx, " + templates.Call(ref.Marshaler) + "(" + value + "))", true}
	}
	return leaf{"x.Marshal(" + templates.Call(ref.Marshaler) + "(" + value + "))", true}
}

type leaf struct {
	Code string
	Null bool
}

// IsLeaf tells scalars and enums.
func (b *build) IsLeaf(ref *config.TypeReference) bool {
	return ref.Definition.Kind == ast.Scalar || ref.Definition.Kind == ast.Enum
}

// IsInterface tells types of which there are several kinds.
func (b *build) IsInterface(ref *config.TypeReference) bool {
	return ref.Definition.Kind == ast.Interface || ref.Definition.Kind == ast.Union
}

// Satisfies are the names of the conditions that an object meets.
func (b *build) Satisfies(o *codegen.Object) string {
	names := []string{strconv.Quote(o.Name)}
	for _, implemented := range o.Implements {
		names = append(names, strconv.Quote(implemented.Name))
	}
	return fmt.Sprintf("[]string{%s}", strings.Join(names, ", "))
}
