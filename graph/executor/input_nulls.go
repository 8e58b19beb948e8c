package executor

import (
	"context"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/opctx"
	"portico/store"
)

// nullClears are the endings of mutations in whose inputs null clears a member. In other mutations null is the same as
// absent.
var nullClears = []string{"Update", "Upsert", "Declare", "Set"}

// withInputNulls calls opctx.WithNulls for the input of a mutation in which null clears a member.
func withInputNulls(ctx context.Context, schema *ast.Schema) context.Context {
	field := graphql.GetRootFieldContext(ctx).Field
	if field.ObjectDefinition.Name != "Mutation" || !slices.ContainsFunc(nullClears, func(end string) bool { return strings.HasSuffix(field.Name, end) }) {
		return ctx
	}
	input := field.Arguments.ForName("input")
	if input == nil || input.Value == nil {
		return ctx
	}
	return opctx.WithNulls(ctx, inputNulls(schema, field.Definition.Arguments.ForName("input").Type, input.Value, graphql.GetOperationContext(ctx).Variables))
}

// inputNulls returns the paths of the members of an input that are null, such as items.0.seo.title. The type of the
// input says which members are lists: one element in the place of a list is its first, as GraphQL has it. A member whose
// variable has no value is absent. Nulls within scalars, such as JSON, are none.
func inputNulls(schema *ast.Schema, of *ast.Type, input *ast.Value, variables map[string]any) store.Nulls {
	f := nullFinder{schema: schema, variables: variables}
	f.literal(nil, of, input)
	f.nulls = slices.DeleteFunc(f.nulls, func(path string) bool { return path == "idempotency_key" }) // not a member of the resource
	slices.Sort(f.nulls)
	return f.nulls
}

type nullFinder struct {
	schema    *ast.Schema
	variables map[string]any
	nulls     store.Nulls
}

// literal finds the nulls of a value in the document.
func (f *nullFinder) literal(path []string, of *ast.Type, value *ast.Value) {
	switch {
	case value.Kind == ast.Variable:
		if sent, given := f.variables[value.Raw]; given {
			f.sent(path, of, sent)
		}
	case value.Kind == ast.NullValue:
		f.add(path)
	case of.Elem != nil && value.Kind != ast.ListValue:
		f.literal(element(path, 0), of.Elem, value)
	case of.Elem != nil:
		for i, child := range value.Children {
			f.literal(element(path, i), of.Elem, child.Value)
		}
	default:
		for _, child := range value.Children {
			if member := f.member(of, child.Name); member != nil {
				f.literal(append(path, child.Name), member.Type, child.Value)
			}
		}
	}
}

// sent finds the nulls of a value of a variable. The lists that the validator makes of single elements are not []any.
func (f *nullFinder) sent(path []string, of *ast.Type, value any) {
	if value == nil {
		f.add(path)
		return
	}
	if of.Elem == nil {
		members, _ := value.(map[string]any)
		for name, value := range members {
			if member := f.member(of, name); member != nil {
				f.sent(append(path, name), member.Type, value)
			}
		}
		return
	}
	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice {
		f.sent(element(path, 0), of.Elem, value)
		return
	}
	for i := range list.Len() {
		f.sent(element(path, i), of.Elem, list.Index(i).Interface())
	}
}

// member returns a member of an input object; nil for scalars, which have none.
func (f *nullFinder) member(of *ast.Type, name string) *ast.FieldDefinition {
	return f.schema.Types[of.NamedType].Fields.ForName(name)
}

func (f *nullFinder) add(path []string) {
	f.nulls = append(f.nulls, snakeCase(strings.Join(path, ".")))
}

// element returns the path of an element of a list. It may share the memory of the path: paths are built and used one at a
// time.
func element(path []string, i int) []string { return append(path, strconv.Itoa(i)) }

// snakeCase returns a path of members as in store.Error.
func snakeCase(path string) string {
	var b strings.Builder
	for _, r := range path {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
