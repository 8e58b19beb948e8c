package graph

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/playground"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/generated"
	"portico/store"
)

// HandlerOption changes how GraphQL is served.
type HandlerOption func(*handling)

type handling struct {
	introspection
	count func(ctx context.Context, field string)
}

// OpenIntrospection lets anyone ask for the schema by introspection, with a
// token or without.
func OpenIntrospection() HandlerOption { return func(h *handling) { h.open = true } }

// CountFields calls count for each root field that is asked for, such as
// Query.product, several times at once.
func CountFields(count func(ctx context.Context, field string)) HandlerOption {
	return func(h *handling) { h.count = count }
}

// NewHandler serves GraphQL over HTTP: POST with a JSON body, and GET for
// queries. Introspection needs a good token, of whatever scopes.
func NewHandler(r *Resolver, log *slog.Logger, options ...HandlerOption) http.Handler {
	var chosen handling
	for _, option := range options {
		option(&chosen)
	}
	executable := generated.NewExecutableSchema(generated.Config{Resolvers: r})
	names := newSchemaNames(executable.Schema())
	server := handler.New(executable)
	server.AddTransport(postTransport{names})
	server.AddTransport(getTransport{names})
	server.SetQueryCache(lru.New[*ast.QueryDocument](1000))
	server.SetParserTokenLimit(maxTokens)
	server.Use(chosen.introspection)
	server.Use(newLimiter())
	if chosen.count != nil {
		server.AroundRootFields(func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
			field := graphql.GetRootFieldContext(ctx).Field
			chosen.count(ctx, field.ObjectDefinition.Name+"."+field.Name)
			return next(ctx)
		})
	}
	server.AroundRootFields(watchReplays)
	server.AroundResponses(tellReplays)
	server.SetErrorPresenter(presenter(log))
	server.SetRecoverFunc(func(_ context.Context, reason any) error {
		return fmt.Errorf("panic in a resolver: %v\n%s", reason, debug.Stack())
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.Header().Set("Allow", allowed)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if fault := refuse(r); fault != nil {
			fault.write(w)
			return
		}
		server.ServeHTTP(w, r)
	})
}

// NewPlayground serves GraphiQL for the endpoint.
func NewPlayground(endpoint string) http.Handler {
	return playground.Handler("Portico", endpoint)
}

// presenter says errors in the caller's terms, with extensions.code from the
// closed list. What is unexpected is logged here, once, and not shown.
func presenter(log *slog.Logger) graphql.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		shown := graphql.DefaultErrorPresenter(ctx, err)
		var own *gqlerror.Error
		if errors.As(err, &own) && own.Unwrap() == nil { // the executor's own word on the request
			if _, told := own.Extensions["code"].(store.Code); !told {
				shown.Extensions = map[string]any{"code": store.Invalid}
			}
			return shown
		}
		first := store.AsErrors(err)[0]
		if first.Code == store.Internal {
			log.ErrorContext(ctx, "a resolver failed", "error", err, "path", shown.Path.String())
		}
		shown.Message = first.Error()
		shown.Extensions = map[string]any{"code": first.Code}
		if len(first.Path) > 0 {
			shown.Extensions["argument"] = first.Path
		}
		return shown
	}
}
