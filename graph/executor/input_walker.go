package executor

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// mutationInput returns the value of the argument input of a mutation; nil for other fields.
func mutationInput(field graphql.CollectedField) *ast.Value {
	if field.ObjectDefinition.Name != "Mutation" {
		return nil
	}
	if input := field.Arguments.ForName("input"); input != nil {
		return input.Value
	}
	return nil
}

// inputWalker visits the nulls and scalars of an input. The type of the input says which members are lists: one element in the
// place of a list is its first, as GraphQL has it. A member whose variable has no value is absent.
type inputWalker struct {
	schema    *ast.Schema
	variables map[string]any

	// visit gets the path of a value, such as items, 0, name, the input object that has it, and the value: nil for null, and
	// as it was sent for scalars. The path is valid during the call.
	visit func(path []string, in *ast.Definition, value any)
}

// literal visits a value of the type of in the document. in is the input object that has it; nil for the input itself.
func (w *inputWalker) literal(path []string, in *ast.Definition, of *ast.Type, value *ast.Value) {
	members := w.schema.Types[of.NamedType]
	switch {
	case value.Kind == ast.Variable:
		if sent, given := w.variables[value.Raw]; given {
			w.sent(path, in, of, sent)
		}
	case value.Kind == ast.NullValue:
		w.visit(path, in, nil)
	case of.Elem != nil && value.Kind != ast.ListValue:
		w.literal(element(path, 0), in, of.Elem, value)
	case of.Elem != nil:
		for i, child := range value.Children {
			w.literal(element(path, i), in, of.Elem, child.Value)
		}
	case members.Kind != ast.InputObject:
		w.visit(path, in, value.Raw)
	default:
		for _, child := range value.Children {
			if member := members.Fields.ForName(child.Name); member != nil {
				w.literal(append(path, child.Name), members, member.Type, child.Value)
			}
		}
	}
}

// sent is literal for a value of a variable. The lists that the validator makes of single elements are not []any.
func (w *inputWalker) sent(path []string, in *ast.Definition, of *ast.Type, value any) {
	if value == nil {
		w.visit(path, in, nil)
		return
	}
	if of.Elem == nil {
		members := w.schema.Types[of.NamedType]
		if members.Kind != ast.InputObject {
			w.visit(path, in, value)
			return
		}
		object, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if member := members.Fields.ForName(name); member != nil {
				w.sent(append(path, name), members, member.Type, object[name])
			}
		}
		return
	}
	list := reflect.ValueOf(value)
	if list.Kind() != reflect.Slice {
		w.sent(element(path, 0), in, of.Elem, value)
		return
	}
	for i := range list.Len() {
		w.sent(element(path, i), in, of.Elem, list.Index(i).Interface())
	}
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
