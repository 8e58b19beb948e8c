package transport

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/internal/responsecache"
	"portico/store"
)

// planned runs queries by plans, and leaves everything else to gqlgen's
// executor. What is told and counted of fields and errors is the same in both.
type planned struct {
	*desk
	*handling
	resolver *graph.Resolver
	runner   *plan.Runner
	schema   *ast.Schema
	present  graphql.ErrorPresenterFunc
	room     *responsecache.Cache // of answers that are kept
	made     atomic.Uint64        // requests made ready
}

// The executors, as metrics name them.
const (
	byPlan   = "plan"
	byGqlgen = "gqlgen"
)

// ready is a request as a plan runs it; nil for what is left to gqlgen's
// executor.
func (p *planned) ready(asked *document.Operation, params *graphql.RawParams) *document.PreparedOperation {
	if p == nil || asked.Definition == nil || asked.Definition.Operation != ast.Query {
		return nil
	}
	variables := map[string]any{}
	if len(asked.Definition.VariableDefinitions) > 0 {
		var err error
		if variables, err = validator.VariableValues(p.schema, asked.Definition, params.Variables); err != nil {
			return nil // that executor says so
		}
	}
	cached := p.documents.Cache.Plan(asked.CachedDocument, asked.Definition, conditionValues(asked.Definition, variables), func() *plan.Plan {
		return p.runner.Compile(asked.Definition, variables)
	})
	if cached == nil {
		return nil
	}
	q := &document.PreparedOperation{Operation: asked, ID: p.made.Add(1), Variables: variables, Plan: cached,
		ResponseEnd: responseEnd(asked, params), CacheCoordinates: lasting(cached.Plan)}
	q.Introspects = slices.Contains(cached.Roots(), "__schema") || slices.Contains(cached.Roots(), "__type")
	q.Params = graphql.RawParams{Query: asked.Query, Variables: variables}
	if params.OperationName != "" {
		q.Params.OperationName = asked.Definition.Name
	}
	if costAsked(params) {
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

// run answers a query by its plan. False, without anything written, for a
// client that has gone, and for what gqlgen's executor has to answer.
func (p *planned) run(w http.ResponseWriter, r *http.Request, q *document.PreparedOperation) bool {
	if op := opctx.From(r.Context()); op != nil {
		op.Budget = opctx.NewBudget(q.Allowance)
	}
	buffer := buffers.Get().(*[]byte)
	body, found, faults, err := p.execute(r.Context(), q, r.Header, opctx.Cacheable(r), buffer)
	defer func() { keepBuffer(buffer, body) }()
	if fault := p.stopped(err); fault != nil {
		p.refuse(w, r, q.Operation, &q.Params, fault)
		return true
	}
	if err != nil {
		return false
	}
	p.tell(r.Context(), q.Operation, faults)
	switch {
	case len(faults) > 0:
		response := &graphql.Response{Data: dataOf(q, body), Errors: faults, Extensions: costExtensions(q.Operation, &q.Params)}
		comeAgain(w, response)
		p.write(w, &q.Params, response)
	case found != nil && opctx.Cacheable(r):
		w.Header()["Cache-Control"] = opctx.CacheControl(r)
		found.ServeHTTP(w, r)
	case found != nil:
		found.ServeWithoutETag(w, r)
	default:
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = w.Write(body) // a caller that went away reads nothing
	}
	return true
}

// respond is run for a stream. It is false for what gqlgen's executor has to
// answer.
func (p *planned) respond(ctx context.Context, q *document.PreparedOperation, header http.Header) (*graphql.Response, bool) {
	buffer := buffers.Get().(*[]byte)
	body, found, faults, err := p.execute(ctx, q, header, false, buffer)
	defer func() { keepBuffer(buffer, body) }()
	if fault := p.stopped(err); fault != nil {
		return &graphql.Response{Errors: asFaults(fault)}, true
	}
	if err != nil {
		return nil, false
	}
	if found != nil {
		return &graphql.Response{Data: dataOf(q, found.Body)}, true
	}
	return &graphql.Response{Data: bytes.Clone(dataOf(q, body)), Errors: faults}, true
}

// dataOf returns the data of a response that was written for q.
func dataOf(q *document.PreparedOperation, body []byte) []byte {
	return body[len(answerBegins) : len(body)-len(q.ResponseEnd)]
}

// execute runs a query by its plan within its operation, and writes its answer
// into a buffer, or finds one that is kept whole. A *plan.Stopped fails the
// operation as a whole. After any other error gqlgen's executor has to answer: a
// client has gone, a resolver panicked, or who asks may not introspect.
func (p *planned) execute(ctx context.Context, q *document.PreparedOperation, header http.Header, tagged bool, buffer *[]byte) (body []byte, found *responsecache.Response, faults gqlerror.List, err error) {
	ctx, ran := store.StartStep(ctx, stepRun)
	operation := &graphql.OperationContext{
		RawQuery: q.Params.Query, OperationName: q.Params.OperationName, Variables: q.Variables, Headers: header,
		Doc: q.Document, Operation: q.Definition,
		RecoverFunc: recovered, ResolverMiddleware: untouched, RootResolverMiddleware: p.aroundRootFields,
	}
	err = ctx.Err()
	if err == nil && q.Introspects {
		if refusal := p.introspection.MutateOperationContext(ctx, operation); refusal != nil {
			err = refusal
		}
	}
	if err != nil {
		ran(err)
		return nil, nil, nil, err
	}
	ctx = graphql.WithOperationContext(ctx, operation)
	ctx = graphql.WithResponseContext(ctx, p.present, recovered)
	body, found, err = p.answer(ctx, q, tagged, (*buffer)[:0])
	p.documents.Cache.Recharge(q.Plan)
	if err != nil {
		ran(err)
		if p.stopped(err) != nil {
			p.executed(byPlan)
		}
		return body, nil, nil, err
	}
	p.executed(byPlan)
	faults = graphql.GetErrors(ctx)
	ran(failed(faults))
	return body, found, faults, nil
}

// answer makes an answer in dst, or finds one that is kept whole. Where it is
// tagged, it is one that could be kept, whether or not there is room for any.
func (p *planned) answer(ctx context.Context, q *document.PreparedOperation, tagged bool, dst []byte) (body []byte, found *responsecache.Response, err error) {
	if q.CacheCoordinates != nil && (tagged || p.room.Enabled()) {
		body, found, ok, err := p.lastingAnswer(ctx, q, dst)
		if ok || err != nil {
			return body, found, err
		}
	}
	if err := p.beginRun(ctx, q.Operation); err != nil {
		return dst, nil, err
	}
	body, err = p.runner.Run(ctx, q.Plan.Plan, append(dst, answerBegins...))
	return append(body, q.ResponseEnd...), nil, err
}

func untouched(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

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

// keepBuffer lets others use the buffer of an answer, and what it grew to.
func keepBuffer(buffer *[]byte, body []byte) {
	switch {
	case cap(body) > limits.LargeResponse && cap(body) <= largeBuffer:
		largeBuffers.Put(&body)
	case cap(body) > cap(*buffer) && cap(body) <= limits.LargeResponse:
		*buffer = body
	}
	buffers.Put(buffer)
}
