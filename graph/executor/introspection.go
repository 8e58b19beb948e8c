package executor

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	library "github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/audience"
	"portico/graph/limits"
	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
)

// introspection restricts __schema and __type to clients with a token, unless open, and to what the
// token may use. A request without a token sees the whole schema, if open. It implements
// graphql.OperationContextMutator.
type introspection struct {
	open      bool
	audiences *audience.Schemas
}

// ExtensionName implements graphql.HandlerExtension.
func (introspection) ExtensionName() string { return "Introspection" }

// Validate implements graphql.HandlerExtension.
func (introspection) Validate(graphql.ExecutableSchema) error { return nil }

// MutateOperationContext implements graphql.OperationContextMutator. It rejects introspection without a
// valid token.
func (i introspection) MutateOperationContext(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	failure := auth.RequireToken(ctx)
	operation.DisableIntrospection = failure != nil && !i.open
	if !limits.SelectsSchema(operation.Operation.SelectionSet, map[string]bool{}) { // no fragment was visited so far
		return nil
	}
	if !operation.DisableIntrospection {
		operation.ResolverMiddleware = i.introspect
		return nil
	}
	refusal := store.AsErrors(failure)[0]
	return &gqlerror.Error{
		Message:    "Introspection needs a token, of any scope. The schema at /schema.graphql needs none. " + model.Message(refusal),
		Extensions: map[string]any{"code": refusal.Code},
	}
}

// introspect runs a field of an operation that selects __schema or __type, which are those of the client's audience. It fails
// if the client is gone: no SQL would notice that. Fields of the types of introspection are free, others are charged.
func (i introspection) introspect(ctx context.Context, next graphql.Resolver) (any, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	field := graphql.GetFieldContext(ctx)
	if strings.HasPrefix(field.Object, "__") {
		return nullForOtherKinds(ctx, field, next)
	}
	if field.Object != "Query" || auth.RequireToken(ctx) != nil {
		return resolveField(ctx, next)
	}
	return resolveField(ctx, func(ctx context.Context) (any, error) {
		switch field.Field.Name {
		case "__schema":
			return library.WrapSchema(i.schemaFor(ctx)), nil
		case "__type":
			schema := i.schemaFor(ctx)
			name, _ := field.Args["name"].(string)
			return library.WrapTypeFromDef(schema, schema.Types[name]), nil
		}
		return next(ctx)
	})
}

// kindsWith are the kinds of types that have a field of __Type. It is null for other kinds.
var kindsWith = map[string][]ast.DefinitionKind{
	"fields": {ast.Object, ast.Interface}, "interfaces": {ast.Object, ast.Interface}, "possibleTypes": {ast.Interface, ast.Union},
	"enumValues": {ast.Enum}, "inputFields": {ast.InputObject}, "isOneOf": {ast.InputObject},
}

// nullForOtherKinds runs a field of a type of the introspection. The library (gqlgen 0.17.95) has empty lists where the specification
// has null.
func nullForOtherKinds(ctx context.Context, field *graphql.FieldContext, next graphql.Resolver) (any, error) {
	if of, ok := field.Parent.Result.(*library.Type); ok && field.Object == "__Type" {
		if kinds := kindsWith[field.Field.Name]; kinds != nil && !slices.Contains(kinds, ast.DefinitionKind(of.Kind())) {
			return nil, nil
		}
	}
	return next(ctx)
}

// schemaFor returns what the request's token may use.
func (i introspection) schemaFor(ctx context.Context) *ast.Schema {
	return i.audiences.For(auth.PrincipalFrom(ctx).Scopes).Schema
}
