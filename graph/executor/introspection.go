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

// introspection restricts __schema and __type to clients with a token, unless open. It implements
// graphql.OperationContextMutator.
type introspection struct{ open bool }

// ExtensionName implements graphql.HandlerExtension.
func (introspection) ExtensionName() string { return "Introspection" }

// Validate implements graphql.HandlerExtension.
func (introspection) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements graphql.OperationContextMutator. It rejects introspection without a
// valid token.
func (i introspection) MutateOperationContext(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	failure := auth.Authenticated(ctx)
	operation.DisableIntrospection = failure != nil && !i.open
	if !limits.SelectsSchema(operation.Operation.SelectionSet, map[string]bool{}) {
		return nil
	}
	if !operation.DisableIntrospection {
		operation.ResolverMiddleware = checkClient
		return nil
	}
	refusal := store.AsErrors(failure)[0]
	return &gqlerror.Error{
		Message:    "Introspection needs a token, of any scope. The schema at /schema.graphql needs none. " + model.Message(refusal),
		Extensions: map[string]any{"code": refusal.Code},
	}
}

// checkClient runs a field of an introspection as chargeField does, unless the client is gone. It runs
// no SQL that would notice that.
func checkClient(ctx context.Context, next graphql.Resolver) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return chargeField(ctx, next)
}
