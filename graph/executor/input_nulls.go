package executor

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/opctx"
	"portico/store"
)

// nullClears are the endings of mutations in whose inputs null clears a member. In other mutations null is the same as
// absent.
var nullClears = []string{"Update", "Upsert", "Set"}

// withInputNulls calls opctx.WithNulls for the input of a mutation in which null clears a member.
func withInputNulls(ctx context.Context, schema *ast.Schema) context.Context {
	field := graphql.GetRootFieldContext(ctx).Field
	input := mutationInput(field)
	if input == nil || !slices.ContainsFunc(nullClears, func(end string) bool { return strings.HasSuffix(field.Name, end) }) {
		return ctx
	}
	return opctx.WithNulls(ctx, inputNulls(schema, field.Definition.Arguments.ForName("input").Type, input, graphql.GetOperationContext(ctx).Variables))
}

// inputNulls returns the paths of the members of an input that are null, in snake case and sorted, such as
// items.0.main_image_id. Nulls within scalars, such as JSON, are none.
func inputNulls(schema *ast.Schema, of *ast.Type, input *ast.Value, variables map[string]any) (nulls store.Nulls) {
	w := inputWalker{schema: schema, variables: variables, visit: func(path []string, _ *ast.Definition, value any) {
		if name := snakeCase(strings.Join(path, ".")); value == nil && name != "idempotency_key" { // not a member of the resource
			nulls = append(nulls, name)
		}
	}}
	w.literal(nil, nil, of, input)
	slices.Sort(nulls)
	return nulls
}
