// Package executor answers GraphQL operations: queries by compiled plans, everything else by gqlgen's
// executor. Execute of an Executor takes the Request of a transport and returns a Response, or the Stream of one; it limits, caches,
// and counts. The package must not import transports.
package executor

import (
	"log/slog"

	library "github.com/99designs/gqlgen/graphql/executor"

	"portico/graph"
	"portico/graph/audience"
	"portico/graph/document"
	"portico/graph/generated"
)

// NewExecutor returns an executor.
func NewExecutor(r *graph.Resolver, log *slog.Logger, c Config) *Executor {
	if c.CountExecutor == nil {
		c.CountExecutor = func(string) {}
	}
	e := &Executor{Config: c, resolver: r, present: errorPresenter(log), log: log, cache: c.Documents}
	resolvers := generated.Config{Resolvers: r, Schema: document.Schema()}
	executable := generated.NewStreamingSchema(resolvers, e.writeEvent)
	e.schema = executable.Schema()
	e.processor = document.NewProcessor(document.Config{
		Schema: e.schema, Limits: c.Limits, Cache: c.Documents, Manifest: c.Manifest, Count: c.CountDocument, Log: log})
	e.Executor = library.New(executable)
	e.SetQueryCache(preparedDocuments{})
	e.introspection = introspection{c.OpenIntrospection, audience.New(e.schema)}
	e.Use(e.introspection)
	e.AroundFields(resolveField)
	e.AroundRootFields(e.limitRootFields) // aroundRootFields, with a limit on the response; plans call aroundRootFields
	e.AroundResponses(addReplays)
	e.SetErrorPresenter(e.present)
	e.SetRecoverFunc(recovered)
	if !c.DisablePlans {
		e.runner = generated.NewPlanRunner(resolvers)
		e.runner.SetLimit(e.limit())
	}
	return e
}
