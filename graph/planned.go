package graph

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator"

	"portico/graph/plan"
	"portico/internal/answers"
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
	room     *answers.Room // of answers that are kept
	made     atomic.Uint64 // requests made ready
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
	number    uint64            // no other request ever has
	params    graphql.RawParams // as the caller wrote them
	variables map[string]any    // as the library has them
	plan      *plan.Plan        // never nil
	ends      string            // what stands behind the data
	lasting   []string          // what must be allowed before a kept answer is given; nil where none may be kept
}

// ready is a request as a plan runs it; nil for what is left to gqlgen's
// executor.
func (p *planned) ready(asked *prepared, params *graphql.RawParams) *ready {
	if p == nil || asked.operation == nil || asked.operation.Operation != ast.Query {
		return nil
	}
	q := &ready{prepared: asked, number: p.made.Add(1), params: *params, variables: map[string]any{}}
	q.params.Headers = nil
	if len(asked.operation.VariableDefinitions) > 0 {
		var err error
		if q.variables, err = validator.VariableValues(p.schema, asked.operation, params.Variables); err != nil {
			return nil // that executor says so
		}
	}
	if q.plan = p.runner.Plan(&asked.plans, asked.document, asked.operation, q.variables); q.plan == nil {
		p.executed(byGqlgen)
		return nil
	}
	q.ends, q.lasting = asked.answerEnd(params), lasting(q.plan)
	return q
}

// run answers a query by its plan. False, without anything written, for a
// client that has gone, and where a resolver panics: gqlgen's executor makes
// that the error of its field.
func (p *planned) run(w http.ResponseWriter, r *http.Request, q *ready) bool {
	ctx, ran := store.Begin(r.Context(), stepRun)
	if ctx.Err() != nil {
		ran(ctx.Err())
		return false
	}
	if op, ok := operationOf(ctx); ok {
		op.budget = q.budget()
	}
	ctx = graphql.WithOperationContext(ctx, &graphql.OperationContext{
		RawQuery: q.params.Query, OperationName: q.params.OperationName, Variables: q.variables, Headers: r.Header,
		Doc: q.document, Operation: q.operation,
		RecoverFunc: recovered, ResolverMiddleware: untouched, RootResolverMiddleware: p.aroundRootFields,
	})
	ctx = graphql.WithResponseContext(ctx, p.present, recovered)
	buffer := buffers.Get().(*[]byte)
	body, found, err := p.answer(ctx, q, cacheable(r), (*buffer)[:0])
	defer func() {
		switch {
		case cap(body) > maxBuffer && cap(body) <= largeBuffer:
			largeBuffers.Put(&body)
		case cap(body) > cap(*buffer) && cap(body) <= maxBuffer:
			*buffer = body
		}
		buffers.Put(buffer)
	}()
	if fault := p.stopped(err); fault != nil {
		ran(err)
		p.executed(byPlan)
		p.refuse(w, r, q.prepared, &q.params, fault)
		return true
	}
	if err != nil {
		ran(err)
		p.executed(byGqlgen)
		return false
	}
	p.executed(byPlan)
	faults := graphql.GetErrors(ctx)
	ran(failed(faults))
	p.tell(r.Context(), q.prepared, faults)
	switch {
	case len(faults) > 0:
		data := body[len(answerBegins) : len(body)-len(q.ends)]
		response := &graphql.Response{Data: data, Errors: faults, Extensions: q.costed(&q.params)}
		comeAgain(w, response)
		p.write(w, &q.params, response)
	case found != nil && cacheable(r):
		w.Header()["Cache-Control"] = CacheControl(r)
		found.ServeHTTP(w, r)
	case found != nil:
		found.Send(w, r)
	default:
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(body))}
		_, _ = w.Write(body) // a caller that went away reads nothing
	}
	return true
}

// answer makes an answer in dst, or finds one that is kept whole. Where it is
// tagged, it is one that could be kept, whether or not there is room for any.
func (p *planned) answer(ctx context.Context, q *ready, tagged bool, dst []byte) (body []byte, found *answers.Answer, err error) {
	if q.lasting != nil && (tagged || p.room.Keeps()) {
		body, found, ok, err := p.lastingAnswer(ctx, q, dst)
		if ok || err != nil {
			return body, found, err
		}
	}
	if err := p.beginRun(ctx, q.prepared); err != nil {
		return dst, nil, err
	}
	body, err = p.runner.Run(ctx, q.plan, append(dst, answerBegins...))
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

// maxBuffer is what an answer may have grown to for its buffer to be used
// again, in bytes.
const maxBuffer = 1 << 20
