package executor

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph/opctx"
	"portico/graph/plan"
)

// The executors, as metrics name them.
const (
	byPlan   = "plan"
	byGqlgen = "gqlgen"
)

// aroundRootFields counts a root field, checks the budget and records a replay. Plans and gqlgen's
// executor both call it.
func (e *Executor) aroundRootFields(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if e.CountField != nil && !plan.IsRepeated(ctx) {
		field := graphql.GetRootFieldContext(ctx).Field
		e.CountField(ctx, field.ObjectDefinition.Name+"."+field.Name)
	}
	if ctx.Err() != nil { // the client is gone
		return graphql.Null
	}
	if op := opctx.From(ctx); op != nil && op.Budget != nil {
		if err := op.Budget.Charge(0); err != nil { // the fields before spent it
			return failRootField(ctx, err)
		}
	}
	if err := checkInputIDs(ctx, e.schema); err != nil {
		return failRootField(ctx, err)
	}
	return recordReplay(withInputNulls(ctx, e.schema), next)
}

// failRootField reports the error of a root field that does not run.
func failRootField(ctx context.Context, err error) graphql.Marshaler {
	field := graphql.GetRootFieldContext(ctx).Field
	graphql.AddError(graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: field.ObjectDefinition.Name, Field: field}), err)
	return graphql.Null
}

// countFields counts root fields that come from a cached response, or are subscriptions.
func (e *Executor) countFields(ctx context.Context, coordinates []string) {
	if e.CountField == nil {
		return
	}
	for _, coordinate := range coordinates {
		e.CountField(ctx, coordinate)
	}
}

// countGqlgen counts a query that gqlgen's executor runs, unless the client is gone.
func (e *Executor) countGqlgen(ctx context.Context, operation *graphql.OperationContext) {
	if operation.Operation.Operation == ast.Query && ctx.Err() == nil {
		e.CountExecutor(byGqlgen)
	}
}

// chargeField charges for a field that gqlgen's executor runs. Fields of introspection are free.
func chargeField(ctx context.Context, next graphql.Resolver) (any, error) {
	if op := opctx.From(ctx); op != nil && op.Budget != nil && !strings.HasPrefix(graphql.GetFieldContext(ctx).Object, "__") {
		if err := op.Budget.ChargeField(); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}
