package executor

import (
	"context"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/opctx"
)

// recordReplay runs a root field, and records its response name if its write was replayed.
func recordReplay(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	op := opctx.From(ctx)
	if op == nil || op.Idempotency == nil {
		return next(ctx)
	}
	before := op.Idempotency.Replays()
	value := next(ctx)
	if op.Idempotency.Replays() > before { // mutations run one after the other
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

// chargeField charges for a field that gqlgen's executor runs. Fields of introspection are free.
func chargeField(ctx context.Context, next graphql.Resolver) (any, error) {
	if op := opctx.From(ctx); op != nil && op.Budget != nil && !strings.HasPrefix(graphql.GetFieldContext(ctx).Object, "__") {
		if err := op.Budget.ChargeField(); err != nil {
			return nil, err
		}
	}
	return next(ctx)
}
