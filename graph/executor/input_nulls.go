package executor

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/opctx"
	"portico/store"
)

// withInputNulls calls opctx.WithNulls for the input of a mutation that updates one resource, or upserts
// items. In other mutations null is the same as absent.
func withInputNulls(ctx context.Context) context.Context {
	field := graphql.GetRootFieldContext(ctx).Field
	if field.ObjectDefinition.Name != "Mutation" {
		return ctx
	}
	input := field.Arguments.ForName("input")
	if input == nil || input.Value == nil {
		return ctx
	}
	variables := graphql.GetOperationContext(ctx).Variables
	switch {
	case strings.HasSuffix(field.Name, "Update"):
		return opctx.WithNulls(ctx, nullMembers(input.Value, variables))
	case strings.HasSuffix(field.Name, "Upsert"), strings.HasSuffix(field.Name, "Declare"):
		return opctx.WithNulls(ctx, nullsOfItems(input.Value, variables))
	}
	return ctx
}

// maxNullPath is the longest path of a null that an item can have: items.0.translations.0.name.
const maxNullPath = 5

// nullsOfItems returns the paths of the nulls in an input of items, such as items.0.seo.title. An
// object in the place of a list is its only element.
func nullsOfItems(input *ast.Value, variables map[string]any) store.Nulls {
	var f nullFinder
	f.literal(nil, input, variables)
	slices.Sort(f.nulls)
	return f.nulls
}

// nullFinder finds nulls at any depth up to maxNullPath.
type nullFinder struct{ nulls store.Nulls }

func (f *nullFinder) literal(path []string, value *ast.Value, variables map[string]any) {
	switch value.Kind {
	case ast.NullValue:
		f.add(path)
	case ast.Variable:
		if sent, given := variables[value.Raw]; given {
			f.value(path, sent)
		}
	case ast.ListValue, ast.ObjectValue:
		for i, child := range value.Children {
			name := snakeCase(child.Name)
			if value.Kind == ast.ListValue {
				name = strconv.Itoa(i)
			}
			if len(path) < maxNullPath {
				f.literal(append(slices.Clone(path), name), child.Value, variables)
			}
		}
	}
}

func (f *nullFinder) value(path []string, value any) {
	if len(path) > maxNullPath {
		return
	}
	switch value := value.(type) {
	case nil:
		f.add(path)
	case []any:
		for i, element := range value {
			f.value(append(slices.Clone(path), strconv.Itoa(i)), element)
		}
	case map[string]any:
		for name, member := range value {
			f.value(append(slices.Clone(path), snakeCase(name)), member)
		}
	}
}

func (f *nullFinder) add(path []string) { f.nulls = append(f.nulls, strings.Join(path, ".")) }

// nullMembers returns the members of an input object that are null. A member whose variable has no
// value is absent.
func nullMembers(input *ast.Value, variables map[string]any) (nulls store.Nulls) {
	add := func(name string) {
		if name != "idempotencyKey" { // not a member of the resource
			nulls = append(nulls, snakeCase(name))
		}
	}
	if input.Kind == ast.Variable {
		members, _ := variables[input.Raw].(map[string]any)
		for name, value := range members {
			if value == nil {
				add(name)
			}
		}
		slices.Sort(nulls)
		return nulls
	}
	for _, member := range input.Children {
		null := member.Value.Kind == ast.NullValue
		if member.Value.Kind == ast.Variable {
			value, sent := variables[member.Value.Raw]
			null = sent && value == nil
		}
		if null {
			add(member.Name)
		}
	}
	return nulls
}

// snakeCase returns a member's name as in the paths of store.Error.
func snakeCase(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
