package executor

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"portico/graph/opctx"
)

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
