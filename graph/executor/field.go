package executor

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/opctx"
	"portico/graph/plan"
)

// aroundRootFields runs a root field. Plans and gqlgen's executor both call it. Before the field it does, in this order:
//
//  1. count it,
//  2. return null if the client is gone,
//  3. refuse it once the budget is spent,
//  4. refuse it if its input has the global id of another type,
//  5. record which members of the input are null.
//
// After the field it records whether the write was a replay: the stored result of an idempotency key.
func (e *Executor) aroundRootFields(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if e.CountField != nil && !plan.IsRepeated(ctx) { // else the run before counted it
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

// resolveField charges for a field that gqlgen's executor runs, and resolves it. Fields of introspection are free. It reports each of
// several errors of the field, as plan.Run.Fail does: gqlgen shows one.
func resolveField(ctx context.Context, next graphql.Resolver) (any, error) {
	if op := opctx.From(ctx); op != nil && op.Budget != nil && !strings.HasPrefix(graphql.GetFieldContext(ctx).Object, "__") {
		if err := op.Budget.ChargeField(); err != nil {
			return nil, err
		}
	}
	value, err := next(ctx)
	if several, are := err.(interface{ Unwrap() []error }); are {
		list := several.Unwrap()
		for _, one := range list[:len(list)-1] {
			graphql.AddError(ctx, graphql.AddFieldLocationToError(ctx, one))
		}
		err = list[len(list)-1]
	}
	return value, err
}

// recordReplay runs a root field and records its response name if its write was replayed.
func recordReplay(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	op := opctx.From(ctx)
	if op == nil || op.Idempotency == nil {
		return next(ctx)
	}
	before := op.Idempotency.Replays()
	value := next(ctx)
	if op.Idempotency.Replays() > before { // root fields of a mutation run in order
		op.Idempotency.AddReplayedField(graphql.GetRootFieldContext(ctx).Field.Alias)
	}
	return value
}

// addReplays lists the replayed fields in the response's extensions.
func addReplays(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	resp := next(ctx)
	op := opctx.From(ctx)
	if resp == nil || op == nil || op.Idempotency == nil {
		return resp
	}
	fields := op.Idempotency.ReplayedFields()
	if len(fields) == 0 {
		return resp
	}
	if resp.Extensions == nil {
		resp.Extensions = map[string]any{}
	}
	resp.Extensions["idempotentReplay"] = fields
	return resp
}
