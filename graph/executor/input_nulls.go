package executor

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/opctx"
	"portico/store"
)

// withInputNulls calls opctx.WithNulls for the input of a mutation that updates. In other mutations null
// is the same as absent.
func withInputNulls(ctx context.Context) context.Context {
	field := graphql.GetRootFieldContext(ctx).Field
	if field.ObjectDefinition.Name != "Mutation" || !strings.HasSuffix(field.Name, "Update") {
		return ctx
	}
	input := field.Arguments.ForName("input")
	if input == nil || input.Value == nil {
		return ctx
	}
	return opctx.WithNulls(ctx, nullMembers(input.Value, graphql.GetOperationContext(ctx).Variables))
}

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
