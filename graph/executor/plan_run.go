package executor

import (
	"context"
	"net/http"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph/document"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/internal/responsecache"
	"portico/store"
)

// compile returns a query with its plan, its coerced variables and what Execute needs of it for later requests. It returns nil if
// gqlgen's executor must run the operation.
func (e *Executor) compile(op *document.Operation, params *graphql.RawParams) *document.PreparedOperation {
	if e.runner == nil || op.Definition == nil || op.Definition.Operation != ast.Query {
		return nil
	}
	variables := map[string]any{}
	if len(op.Definition.VariableDefinitions) > 0 {
		var err error
		if variables, err = validator.VariableValues(e.schema, op.Definition, params.Variables); err != nil {
			return nil // gqlgen's executor reports the error
		}
	}
	cached := e.cache.Plan(op.CachedDocument, op.Definition, conditionValues(op.Definition, variables), func() *plan.Plan {
		return e.runner.Compile(op.Definition, variables)
	})
	if cached == nil {
		return nil
	}
	query := &document.PreparedOperation{Operation: op, ID: e.prepared.Add(1), Variables: variables, Plan: cached,
		ResponseEnd: endWithCost(op, params), CacheCoordinates: cacheCoordinates(op, cached.Plan, variables),
		CandidateCoordinates: candidateCoordinates(op, cached.Plan, variables)}
	query.Introspects = slices.Contains(cached.Roots(), "__schema") || slices.Contains(cached.Roots(), "__type")
	query.Params = graphql.RawParams{Query: op.Query, Variables: variables}
	if params.OperationName != "" { // the document's own text, so that the request's is freed
		query.Params.OperationName = op.Definition.Name
	}
	if wantsCost(params) {
		query.Params.Extensions = map[string]any{costExtension: true}
	}
	return query
}

// conditionValues returns the values of the variables in @skip and @include, one digit each.
func conditionValues(operation *ast.OperationDefinition, variables map[string]any) string {
	names := plan.ConditionVariables(operation)
	values := make([]byte, len(names))
	for i, name := range names {
		values[i] = '0'
		if variables[name] == true {
			values[i] = '1'
		}
	}
	return string(values)
}

// planResponse runs a query by its plan in the operation of ctx. It returns the response as body, which may
// use the buffer, or a cached one. tagged means that the response gets an ETag. If err is a
// *plan.Stopped, the operation failed as a whole. After any other err gqlgen's executor must run the
// query: the client is gone, a resolver panicked, or introspection is not allowed.
func (e *Executor) planResponse(ctx context.Context, query *document.PreparedOperation, header http.Header, tagged bool, buffer *[]byte) (body []byte, found *responsecache.Response, errs gqlerror.List, err error) {
	ctx, endStep := store.StartStep(ctx, stepRun)
	opCtx := &graphql.OperationContext{
		RawQuery: query.Params.Query, OperationName: query.Params.OperationName, Variables: query.Variables, Headers: header,
		Doc: query.Document, Operation: query.Definition,
		RecoverFunc: recovered, ResolverMiddleware: runField, RootResolverMiddleware: e.aroundRootFields,
	}
	err = ctx.Err()
	if err == nil && query.Introspects {
		if refusal := e.introspection.MutateOperationContext(ctx, opCtx); refusal != nil {
			err = refusal
		}
	}
	if err != nil {
		endStep(err)
		return nil, nil, nil, err
	}
	if op := opctx.From(ctx); op != nil {
		op.Roots = query // so that resolvers read the rows of like root fields together (opctx.ReadTogether)
	}
	ctx = graphql.WithOperationContext(ctx, opCtx)
	ctx = graphql.WithResponseContext(ctx, e.present, recovered)
	body, found, err = e.runOrCached(ctx, query, tagged, (*buffer)[:0])
	e.cache.Recharge(query.Plan)
	if err != nil {
		endStep(err)
		if e.stoppedError(err) != nil {
			e.CountExecutor(byPlan)
		}
		return body, nil, nil, err
	}
	e.CountExecutor(byPlan)
	errs = graphql.GetErrors(ctx)
	endStep(stepError(errs))
	return body, found, errs, nil
}

// runOrCached appends a response to dst, or returns a cached one. A tagged response is made in the way
// of cacheable ones, even if the cache is disabled.
func (e *Executor) runOrCached(ctx context.Context, query *document.PreparedOperation, tagged bool, dst []byte) (body []byte, found *responsecache.Response, err error) {
	if query.CacheCoordinates != nil && (tagged || e.Responses.Enabled()) {
		body, found, ok, err := e.cachedResponse(ctx, query, dst)
		if ok || err != nil {
			return body, found, err
		}
	}
	if err := e.startRun(ctx, query.Operation); err != nil {
		return dst, nil, err
	}
	// A plan follows edges on one goroutine, so no dataloader is needed.
	body, err = e.runner.Run(model.WithSerial(ctx), query.Plan.Plan, append(dst, responseStart...))
	return appendEnd(ctx, body, query), nil, err
}

// runField is a resolver middleware that does nothing: plans charge fields by themselves.
func runField(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }
