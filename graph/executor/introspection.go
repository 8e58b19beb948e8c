package executor

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/limits"
	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
)

// introspection says who may ask for __schema and __type; __typename is for
// everyone.
type introspection struct{ open bool }

// ExtensionName implements graphql.HandlerExtension.
func (introspection) ExtensionName() string { return "Introspection" }

// Validate implements graphql.HandlerExtension.
func (introspection) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext refuses an operation that asks for the schema without
// a good token.
func (i introspection) MutateOperationContext(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	failure := auth.Authenticated(ctx)
	operation.DisableIntrospection = failure != nil && !i.open
	if !limits.SelectsSchema(operation.Operation.SelectionSet, map[string]bool{}) {
		return nil
	}
	if !operation.DisableIntrospection {
		operation.ResolverMiddleware = untilGone // in place of chargeField
		return nil
	}
	refusal := store.AsErrors(failure)[0]
	return &gqlerror.Error{
		Message:    "Introspection needs a token, of whatever scopes; the schema itself is at /schema.graphql for everyone. " + model.Message(refusal),
		Extensions: map[string]any{"code": refusal.Code},
	}
}

// untilGone ends an introspection with its client, field by field: no resolver
// and no statement of ours is on its way, which would end by themselves.
func untilGone(ctx context.Context, next graphql.Resolver) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return chargeField(ctx, next)
}
