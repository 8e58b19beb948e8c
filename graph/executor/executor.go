package executor

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/generated"
	"portico/graph/limits"
	"portico/graph/plan"
	"portico/internal/responsecache"
	"portico/store"
)

// Config configures an Executor. Functions may be nil, and are called concurrently.
type Config struct {
	Bounds            limits.Bounds
	OpenIntrospection bool                 // without a token
	DisablePlans      bool                 // gqlgen's executor runs everything
	Responses         *responsecache.Cache // of whole responses; nil for none
	Fragments         *responsecache.Cache // of fragments of responses; nil for none
	Limiter           ConcurrencyLimiter   // nil for none

	CountField        func(ctx context.Context, coordinate string)    // of each root field
	CountExecutor     func(executor string)                           // of each query: plan or gqlgen
	CountOperation    func(ctx context.Context, stats OperationStats) // when an operation ended or was rejected
	CountSubscription func(ctx context.Context, stats OperationStats) // when a subscription began
}

// ConcurrencyLimiter bound how much is worked on at once. Each refuses what would have to
// wait for too long; end gives a turn back.
type ConcurrencyLimiter interface {
	// SwitchToWrite has a request, which has a turn to read, wait for one to write.
	SwitchToWrite(w http.ResponseWriter, r *http.Request) error

	AcquireRead(ctx context.Context) (end func(), err error)
	AcquireWrite(ctx context.Context) (end func(), err error)

	// AcquireExpensive takes a turn among the few for operations that cost much or have a
	// large answer; running says that part of the answer is in memory already. A
	// request's ends with it, so that end does nothing.
	AcquireExpensive(ctx context.Context, running bool) (end func(), err error)
}

// Executor runs operations: queries by plans, everything else by gqlgen's executor. Errors and
// statistics are the same in both. It is safe for concurrent use.
type Executor struct {
	*executor.Executor // gqlgen's
	Config
	introspection introspection
	resolver      *graph.Resolver
	runner        *plan.Runner // nil if gqlgen's executor runs everything
	schema        *ast.Schema
	present       graphql.ErrorPresenterFunc
	plans         *document.Cache
	prepared      atomic.Uint64 // operations so far
}

// NewExecutor returns an executor that caches plans with their documents.
func NewExecutor(r *graph.Resolver, log *slog.Logger, c Config, plans *document.Cache) *Executor {
	if c.CountExecutor == nil {
		c.CountExecutor = func(string) {}
	}
	e := &Executor{Config: c, resolver: r, introspection: introspection{c.OpenIntrospection}, present: errorPresenter(log), plans: plans}
	resolvers := generated.Config{Resolvers: r, Schema: document.Schema()}
	executable := generated.NewStreamingSchema(resolvers, e.writeEvent)
	e.schema = executable.Schema()
	e.Executor = executor.New(executable)
	e.SetQueryCache(preparedDocuments{})
	e.Use(e.introspection)
	e.AroundFields(chargeField)
	e.AroundRootFields(e.limitRootFields)
	e.AroundResponses(addReplays)
	e.SetErrorPresenter(e.present)
	e.SetRecoverFunc(recovered)
	if !c.DisablePlans {
		e.runner = generated.NewPlanRunner(resolvers)
		e.runner.SetLimit(e.limit())
		if c.Fragments.Enabled() {
			e.runner.UseCache(fragmentStore{c.Fragments, r})
		}
	}
	return e
}

// Schema returns the schema that operations are validated against.
func (e *Executor) Schema() *ast.Schema { return e.schema }

// The executors, as metrics name them.
const (
	byPlan   = "plan"
	byGqlgen = "gqlgen"
)

// Prepare is a request as a plan runs it; nil for what is left to gqlgen's
// executor.
func (e *Executor) Prepare(asked *document.Operation, params *graphql.RawParams) *document.PreparedOperation {
	if e.runner == nil || asked.Definition == nil || asked.Definition.Operation != ast.Query {
		return nil
	}
	variables := map[string]any{}
	if len(asked.Definition.VariableDefinitions) > 0 {
		var err error
		if variables, err = validator.VariableValues(e.schema, asked.Definition, params.Variables); err != nil {
			return nil // that executor says so
		}
	}
	cached := e.plans.Plan(asked.CachedDocument, asked.Definition, conditionValues(asked.Definition, variables), func() *plan.Plan {
		return e.runner.Compile(asked.Definition, variables)
	})
	if cached == nil {
		return nil
	}
	q := &document.PreparedOperation{Operation: asked, ID: e.prepared.Add(1), Variables: variables, Plan: cached,
		ResponseEnd: responseEnd(asked, params), CacheCoordinates: cacheCoordinates(cached.Plan)}
	q.Introspects = slices.Contains(cached.Roots(), "__schema") || slices.Contains(cached.Roots(), "__type")
	q.Params = graphql.RawParams{Query: asked.Query, Variables: variables}
	if params.OperationName != "" {
		q.Params.OperationName = asked.Definition.Name
	}
	if wantsCost(params) {
		q.Params.Extensions = map[string]any{costExtension: true}
	}
	return q
}

// conditionValues are the values of the variables that decide what an
// operation selects: a digit for each.
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

// StreamPlan is run for a stream. It is false for what gqlgen's executor has to
// answer.
func (e *Executor) StreamPlan(ctx context.Context, q *document.PreparedOperation, header http.Header) (*graphql.Response, bool) {
	buffer := GetBuffer()
	body, found, faults, err := e.RunPlan(ctx, q, header, false, buffer)
	defer func() { PutBuffer(buffer, body) }()
	if fault := e.StoppedError(err); fault != nil {
		return &graphql.Response{Errors: ErrorList(fault)}, true
	}
	if err != nil {
		return nil, false
	}
	if found != nil {
		return &graphql.Response{Data: ResponseData(q, found.Body)}, true
	}
	return &graphql.Response{Data: bytes.Clone(ResponseData(q, body)), Errors: faults}, true
}

// ResponseData returns the data of a response that was written for q.
func ResponseData(q *document.PreparedOperation, body []byte) []byte {
	return body[len(answerBegins) : len(body)-len(q.ResponseEnd)]
}

// RunPlan runs a query by its plan within its operation, and writes its answer
// into a buffer, or finds one that is kept whole. A *plan.Stopped fails the
// operation as a whole. After any other error gqlgen's executor has to answer: a
// client has gone, a resolver panicked, or who asks may not introspect.
func (e *Executor) RunPlan(ctx context.Context, q *document.PreparedOperation, header http.Header, tagged bool, buffer *[]byte) (body []byte, found *responsecache.Response, faults gqlerror.List, err error) {
	ctx, ran := store.StartStep(ctx, StepRun)
	operation := &graphql.OperationContext{
		RawQuery: q.Params.Query, OperationName: q.Params.OperationName, Variables: q.Variables, Headers: header,
		Doc: q.Document, Operation: q.Definition,
		RecoverFunc: recovered, ResolverMiddleware: runField, RootResolverMiddleware: e.aroundRootFields,
	}
	err = ctx.Err()
	if err == nil && q.Introspects {
		if refusal := e.introspection.MutateOperationContext(ctx, operation); refusal != nil {
			err = refusal
		}
	}
	if err != nil {
		ran(err)
		return nil, nil, nil, err
	}
	ctx = graphql.WithOperationContext(ctx, operation)
	ctx = graphql.WithResponseContext(ctx, e.present, recovered)
	body, found, err = e.runOrCached(ctx, q, tagged, (*buffer)[:0])
	e.plans.Recharge(q.Plan)
	if err != nil {
		ran(err)
		if e.StoppedError(err) != nil {
			e.CountExecutor(byPlan)
		}
		return body, nil, nil, err
	}
	e.CountExecutor(byPlan)
	faults = graphql.GetErrors(ctx)
	ran(StepError(faults))
	return body, found, faults, nil
}

// runOrCached makes an answer in dst, or finds one that is kept whole. Where it is
// tagged, it is one that could be kept, whether or not there is room for any.
func (e *Executor) runOrCached(ctx context.Context, q *document.PreparedOperation, tagged bool, dst []byte) (body []byte, found *responsecache.Response, err error) {
	if q.CacheCoordinates != nil && (tagged || e.Responses.Enabled()) {
		body, found, ok, err := e.cachedResponse(ctx, q, dst)
		if ok || err != nil {
			return body, found, err
		}
	}
	if err := e.StartRun(ctx, q.Operation); err != nil {
		return dst, nil, err
	}
	body, err = e.runner.Run(ctx, q.Plan.Plan, append(dst, answerBegins...))
	return append(body, q.ResponseEnd...), nil, err
}

func runField(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

const (
	answerBegins = `{"data":`
	answerEnds   = "}\n"
)

// buffers are for answers while they are written.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// largeBuffers are for answers of more than limits.LargeResponse bytes, so that each takes one
// buffer, and not several as it grows. Few are in use at once: expensive turns
// see to it.
var largeBuffers = sync.Pool{New: func() any { b := make([]byte, 0, largeBuffer); return &b }}

// largeBuffer is the size of such a buffer in bytes: the default of
// Bounds.AnswerBytes, and some for the last leaf.
const largeBuffer = 8<<20 + 64<<10

// GetBuffer returns a buffer for one response.
func GetBuffer() *[]byte { return buffers.Get().(*[]byte) }

// PutBuffer lets others use the buffer of an answer, and what it grew to.
func PutBuffer(buffer *[]byte, body []byte) {
	switch {
	case cap(body) > limits.LargeResponse && cap(body) <= largeBuffer:
		largeBuffers.Put(&body)
	case cap(body) > cap(*buffer) && cap(body) <= limits.LargeResponse:
		*buffer = body
	}
	buffers.Put(buffer)
}
