package executor

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/opctx"
)

// aroundRootFields is what surrounds every root field, whichever executor runs
// it.
func (e *Executor) aroundRootFields(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if e.CountField != nil {
		field := graphql.GetRootFieldContext(ctx).Field
		e.CountField(ctx, field.ObjectDefinition.Name+"."+field.Name)
	}
	if ctx.Err() != nil { // no field begins for a client that has gone
		return graphql.Null
	}
	if op := opctx.From(ctx); op != nil && op.Budget != nil {
		if err := op.Budget.Charge(0); err != nil { // spent: what is left costs nothing
			field := graphql.GetRootFieldContext(ctx).Field
			graphql.AddError(graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: field.ObjectDefinition.Name, Field: field}), err)
			return graphql.Null
		}
	}
	return recordReplay(withInputNulls(ctx), next)
}

// CountFields counts root fields that were answered without being run.
func (e *Executor) CountFields(ctx context.Context, coordinates []string) {
	if e.CountField == nil {
		return
	}
	for _, coordinate := range coordinates {
		e.CountField(ctx, coordinate)
	}
}

// CountGqlgen counts a query that gqlgen's executor runs, for a client that
// has not gone.
func (e *Executor) CountGqlgen(ctx context.Context, operation *graphql.OperationContext) {
	if operation.Operation.Operation == ast.Query && ctx.Err() == nil {
		e.CountExecutor(byGqlgen)
	}
}

func recovered(_ context.Context, reason any) error {
	return fmt.Errorf("panic in a resolver: %v\n%s", reason, debug.Stack())
}
