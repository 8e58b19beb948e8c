package graph

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph/plan"
	"portico/internal/heapsize"
	"portico/internal/responsecache"
	"portico/store"
)

// planned runs queries by plans, and leaves everything else to gqlgen's
// executor. What is told and counted of fields and errors is the same in both.
type planned struct {
	*desk
	*handling
	resolver *Resolver
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

// ready is a query that was read, measured, validated and planned. The same
// bytes, sent again, run at once; so nothing of it changes.
type ready struct {
	*prepared
	number      uint64            // no other request ever has
	params      graphql.RawParams // as the caller wrote them, but for what nothing here reads
	variables   map[string]any    // as the library has them
	plan        *cachedPlan
	introspects bool     // it asks for the schema too
	ends        string   // what stands behind the data
	lasting     []string // what must be allowed before a kept answer is given; nil where none may be kept
}

// ready is a request as a plan runs it; nil for what is left to gqlgen's
// executor.
func (p *planned) ready(asked *prepared, params *graphql.RawParams) *ready {
	if p == nil || asked.operation == nil || asked.operation.Operation != ast.Query {
		return nil
	}
	variables := map[string]any{}
	if len(asked.operation.VariableDefinitions) > 0 {
		var err error
		if variables, err = validator.VariableValues(p.schema, asked.operation, params.Variables); err != nil {
			return nil // that executor says so
		}
	}
	cached := p.documents.cache.plan(asked.cachedDocument, asked.operation, conditionValues(asked.operation, variables), func() *plan.Plan {
		return p.runner.Compile(asked.operation, variables)
	})
	if cached == nil {
		return nil
	}
	q := &ready{prepared: asked, number: p.made.Add(1), variables: variables, plan: cached,
		ends: asked.answerEnd(params), lasting: lasting(cached.Plan)}
	q.introspects = slices.Contains(cached.Roots(), "__schema") || slices.Contains(cached.Roots(), "__type")
	q.params = graphql.RawParams{Query: asked.query, Variables: variables}
	if params.OperationName != "" {
		q.params.OperationName = asked.operation.Name
	}
	if costAsked(params) {
		q.params.Extensions = map[string]any{costExtension: true}
	}
	return q
}

// conditionValues are the values of the variables that decide what an
// operation selects: a digit for each.
func conditionValues(operation *ast.OperationDefinition, variables map[string]any) string {
	names := plan.Conditions(operation)
	values := make([]byte, len(names))
	for i, name := range names {
		values[i] = '0'
		if variables[name] == true {
			values[i] = '1'
		}
	}
	return string(values)
}

// bytes is the memory that a prepared request takes, without its plan and its
// document.
func (q *ready) bytes() int {
	return int(unsafe.Sizeof(*q)+unsafe.Sizeof(*q.prepared)+unsafe.Sizeof(*q.cost)) + heapsize.Round(len(q.ends)) +
		heapsize.Of(q.variables, q.params.Extensions, q.lasting, q.allowed.weights)
}

// run answers a query by its plan. False, without anything written, for a
// client that has gone, and for what gqlgen's executor has to answer.
func (p *planned) run(w http.ResponseWriter, r *http.Request, q *ready) bool {
	if op, ok := operationOf(r.Context()); ok {
		op.budget = q.budget()
	}
	buffer := buffers.Get().(*[]byte)
	body, found, faults, err := p.execute(r.Context(), q, r.Header, cacheable(r), buffer)
	defer func() { keepBuffer(buffer, body) }()
	if fault := p.stopped(err); fault != nil {
		p.refuse(w, r, q.prepared, &q.params, fault)
		return true
	}
	if err != nil {
		return false
	}
	p.tell(r.Context(), q.prepared, faults)
	switch {
	case len(faults) > 0:
		response := &graphql.Response{Data: q.data(body), Errors: faults, Extensions: q.costed(&q.params)}
		comeAgain(w, response)
		p.write(w, &q.params, response)
	case found != nil && cacheable(r):
		w.Header()["Cache-Control"] = CacheControl(r)
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
func (p *planned) respond(ctx context.Context, q *ready, header http.Header) (*graphql.Response, bool) {
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
		return &graphql.Response{Data: q.data(found.Body)}, true
	}
	return &graphql.Response{Data: bytes.Clone(q.data(body)), Errors: faults}, true
}

// data is the data of an answer.
func (q *ready) data(body []byte) []byte { return body[len(answerBegins) : len(body)-len(q.ends)] }

// execute runs a query by its plan within its operation, and writes its answer
// into a buffer, or finds one that is kept whole. A *plan.Stopped fails the
// operation as a whole. After any other error gqlgen's executor has to answer: a
// client has gone, a resolver panicked, or who asks may not introspect.
func (p *planned) execute(ctx context.Context, q *ready, header http.Header, tagged bool, buffer *[]byte) (body []byte, found *responsecache.Response, faults gqlerror.List, err error) {
	ctx, ran := store.StartStep(ctx, stepRun)
	operation := &graphql.OperationContext{
		RawQuery: q.params.Query, OperationName: q.params.OperationName, Variables: q.variables, Headers: header,
		Doc: q.document, Operation: q.operation,
		RecoverFunc: recovered, ResolverMiddleware: untouched, RootResolverMiddleware: p.aroundRootFields,
	}
	err = ctx.Err()
	if err == nil && q.introspects {
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
	p.documents.cache.charge(q.plan)
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
func (p *planned) answer(ctx context.Context, q *ready, tagged bool, dst []byte) (body []byte, found *responsecache.Response, err error) {
	if q.lasting != nil && (tagged || p.room.Enabled()) {
		body, found, ok, err := p.lastingAnswer(ctx, q, dst)
		if ok || err != nil {
			return body, found, err
		}
	}
	if err := p.beginRun(ctx, q.prepared); err != nil {
		return dst, nil, err
	}
	body, err = p.runner.Run(ctx, q.plan.Plan, append(dst, answerBegins...))
	return append(body, q.ends...), nil, err
}

func untouched(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }

const (
	answerBegins = `{"data":`
	answerEnds   = "}\n"
)

// buffers are for answers while they are written.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// largeBuffers are for answers of more than maxBuffer bytes, so that each takes one
// buffer, and not several as it grows. Few are in use at once: expensive turns
// see to it.
var largeBuffers = sync.Pool{New: func() any { b := make([]byte, 0, largeBuffer); return &b }}

// largeBuffer is the size of such a buffer in bytes: the default of
// Bounds.AnswerBytes, and some for the last leaf.
const largeBuffer = 8<<20 + 64<<10

// keepBuffer lets others use the buffer of an answer, and what it grew to.
func keepBuffer(buffer *[]byte, body []byte) {
	switch {
	case cap(body) > maxBuffer && cap(body) <= largeBuffer:
		largeBuffers.Put(&body)
	case cap(body) > cap(*buffer) && cap(body) <= maxBuffer:
		*buffer = body
	}
	buffers.Put(buffer)
}

// maxBuffer is what an answer may have grown to for its buffer to be used
// again, in bytes.
const maxBuffer = 1 << 20
