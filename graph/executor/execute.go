package executor

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
)

// Request is an operation that a transport has read.
type Request struct {
	Prepared  *document.PreparedOperation // of Find; nil if nobody sent the same bytes before
	Params    graphql.RawParams           // document or its id, name and extensions, unless Prepared is set; header
	Variables map[string]json.RawMessage  // valid JSON, decoded when the document is accepted
	Refused   *gqlerror.Error             // why the transport did not read the rest; nil for none
	Sent      []byte                      // bytes by which Find is to find the operation; nil for none
	Modern    bool                        // the client accepts the media type of the GraphQL over HTTP specification

	HTTP    *http.Request          // that sent the operation; nil over a WebSocket
	Known   *reqctx.Request        // what the middleware knows of HTTP; nil over a WebSocket
	Writer  http.ResponseWriter    // of HTTP; nil for a stream
	Streams bool                   // answered by a stream
	Admit   func() *gqlerror.Error // counts an operation of a stream, or returns an error if there are too many; nil for no limit

	operation *document.Operation // of a request of NeedsStream, which is prepared already
}

// Response is the response to a Request: one of Delivery, Body, Result, Stream and NeedsStream. The caller writes it, then calls
// Release.
type Response struct {
	Delivery    graph.Delivery    // finished, with the headers for HTTP caches; none without a Delivery.Response
	Body        []byte            // finished, without errors
	Result      *graphql.Response // data, errors and extensions
	Stream      *Stream           // of a request that Streams
	NeedsStream *Request          // the operation is a subscription, and was not counted: a stream is to execute this

	Status     int    // of HTTP; 0 for 200
	Plain      bool   // an error of HTTP: its media type is application/json
	Allow      string // the header Allow; empty for none
	RetryAfter bool   // the client may try again in a second

	Context *graphql.OperationContext // of gqlgen's executor; nil for a request of HTTP

	canceled bool    // gqlgen's executor returned nothing: a timeout, or the client is gone
	buffer   *[]byte // that Body or Result.Data may use; nil for none
	written  []byte  // what was appended to buffer, maybe in a larger array, which Release keeps
}

// Release returns the memory of a response for other responses.
func (r *Response) Release() {
	if r.buffer != nil {
		putBuffer(r.buffer, r.written)
	}
}

// execution is one operation on its way through Execute.
type execution struct {
	*Executor
	Request
	op       *document.Operation         // nil if the document is invalid
	query    *document.PreparedOperation // nil if gqlgen's executor runs the operation
	opCtx    *graphql.OperationContext   // of gqlgen's executor; nil until allow creates it
	costSent bool                        // a stream has sent the cost
}

// Execute answers an operation, whatever its transport is and whatever answers it: a cached response, a plan, or gqlgen's executor.
// It is the only entrance.
func (e *Executor) Execute(ctx context.Context, req *Request) (resp Response) {
	x := execution{Executor: e, Request: *req}
	resp, ok := x.prepare(ctx) // find it, or parse and validate it: limits, cost, trusted documents
	switch {
	case !ok: // resp rejects it
	case x.op.IsSubscription() && !x.Streams:
		return Response{NeedsStream: &Request{Params: x.Params, HTTP: x.HTTP, Known: x.Known, operation: x.op}}
	default:
		resp, ok = x.allow(ctx) // introspection, mutations by GET, quotas
	}
	switch {
	case !ok: // resp rejects it
	case x.Streams:
		return Response{Context: x.opCtx, Stream: &Stream{execution: x}} // which does the rest for each response
	default:
		resp = x.answer(ctx) // choose what runs it, and run it
	}
	x.complete(ctx, &resp)
	x.count(ctx, &resp)
	return resp
}

// Find returns the operation that was sent by the same bytes before; nil for none.
func (e *Executor) Find(sent []byte) *document.PreparedOperation { return e.cache.Request(sent) }

// prepare finds the operation, and its plan if it has one. ok is false if the response rejects it.
func (x *execution) prepare(ctx context.Context) (rejected Response, ok bool) {
	var errs gqlerror.List
	switch {
	case x.Refused != nil:
		errs = gqlerror.List{x.Refused}
	case x.operation != nil:
		x.op = x.operation
	case x.Prepared != nil:
		x.query, x.op = x.Prepared, x.Prepared.Operation
		x.countDocument(x.op.Outcome)
	default:
		_, endStep := store.StartStep(ctx, stepPrepare)
		if err := x.catch(ctx, func() {
			if x.op, errs = x.processor.Prepare(&x.Params, x.Variables); errs == nil {
				x.query = x.compile(x.op, &x.Params)
			}
		}); err != nil {
			errs = ErrorList(err)
		}
		endStep(stepError(errs))
	}
	if x.Known != nil {
		x.Known.OperationName = statsOf(x.op).Name
	}
	if errs != nil {
		return x.reject(ctx, errs), false
	}
	return rejected, true
}

// allow checks what depends on the client, and creates the context in which gqlgen's executor runs the operation. A plan of HTTP
// needs none, and checks introspection by itself. ok is false if the response rejects the operation.
func (x *execution) allow(ctx context.Context) (rejected Response, ok bool) {
	if x.opCtx != nil || x.query != nil && !x.Streams {
		return rejected, true
	}
	params := x.Params
	if x.Prepared != nil {
		params = x.Prepared.Params
		params.Headers, params.Variables = x.Params.Headers, cloneVariables(x.Prepared.Variables)
	}
	var errs gqlerror.List
	if err := x.catch(ctx, func() {
		x.opCtx, errs = x.CreateOperationContext(withPrepared(graphql.StartOperationTrace(ctx), x.op), &params)
	}); err != nil {
		x.opCtx, errs = nil, ErrorList(err)
	}
	if errs != nil {
		return x.reject(ctx, errs), false
	}
	if x.HTTP != nil && x.HTTP.Method != http.MethodPost && x.kind() == ast.Mutation {
		return Response{Plain: true, Status: http.StatusMethodNotAllowed, Allow: http.MethodPost, Context: x.opCtx, Result: &graphql.Response{Errors: ErrorList(
			&store.Error{Code: store.Invalid, Detail: "Send a mutation by POST. GET runs queries and subscriptions only."})}}, false
	}
	if x.Admit != nil {
		if err := x.Admit(); err != nil {
			return Response{Plain: true, Status: http.StatusTooManyRequests, RetryAfter: true, Context: x.opCtx,
				Result: &graphql.Response{Errors: gqlerror.List{err}}}, false
		}
	}
	return rejected, true
}

// cloneVariables copies variables, because gqlgen's executor changes them. Values were JSON.
func cloneVariables(variables map[string]any) map[string]any {
	value, _ := store.DecodeNumbers(store.Encode(variables))
	clone, _ := value.(map[string]any)
	return clone
}

// kind returns the kind of an operation that was prepared.
func (x *execution) kind() ast.Operation { return x.op.Definition.Operation }

// answer runs an operation of HTTP.
func (x *execution) answer(ctx context.Context) Response {
	end, err := x.acquire(ctx)
	if err != nil {
		return x.refuse(store.AsErrors(err)[0])
	}
	defer end()
	x.setBudget(ctx)
	return x.run(ctx)
}

// acquire takes a slot of the concurrency limiter. A request of HTTP has one for reading. A subscription needs none while it waits
// for events.
func (x *execution) acquire(ctx context.Context) (end func(), err error) {
	mutates := x.kind() == ast.Mutation
	switch {
	case x.Limiter == nil || x.kind() == ast.Subscription:
	case mutates && !x.Streams:
		err = x.Limiter.SwitchToWrite(x.Writer, x.HTTP)
	case mutates:
		return x.Limiter.AcquireWrite(ctx)
	case x.Streams:
		return x.Limiter.AcquireRead(ctx)
	}
	return func() {}, err
}

// setBudget begins the budget of a run in the operation of ctx. A run that is repeated has a new one.
func (x *execution) setBudget(ctx context.Context) {
	if op := opctx.From(ctx); op != nil {
		op.Budget = opctx.NewBudget(x.op.Allowance)
	}
}

// run runs an operation once: a query by its plan, which may find a cached response, everything else by gqlgen's executor.
func (x *execution) run(ctx context.Context) Response {
	if x.query != nil {
		if resp, ran := x.runPlan(ctx); ran {
			return resp
		}
		x.setBudget(ctx) // the plan may have spent the first
	}
	return x.runGqlgen(ctx)
}

// varyCacheable has the values of Vary of responses that HTTP caches may store.
var varyCacheable = opctx.NewVaryVariant("Accept, Accept-Encoding")

// runPlan runs a query by its plan. ran is false if the client is gone, or gqlgen's executor must run the query. Else the response is
// an error, data with errors, a body, or a Delivery: a cached response, or one that is to be a candidate. The query is then found
// by the bytes of the request.
func (x *execution) runPlan(ctx context.Context) (resp Response, ran bool) {
	var candidate *graph.CandidateBuilder // nil if the front cache does not want the response
	tagged := false                       // the response gets an ETag
	if !x.Streams {
		tagged = opctx.Cacheable(x.HTTP)
		if x.query.CandidateCoordinates != nil {
			ctx, candidate = x.resolver.BeginCandidate(ctx, x.Known)
		}
	}
	resp.buffer = getBuffer()
	var found *responsecache.Response
	var errs gqlerror.List
	var err error
	if failed := x.catch(ctx, func() {
		resp.written, found, errs, err = x.planResponse(ctx, x.query, x.Params.Headers, tagged, resp.buffer)
	}); failed != nil {
		resp.written, err = nil, &plan.Stopped{Err: failed}
	}
	stopped := x.stoppedError(err)
	if err != nil {
		resp.Release()
	}
	switch {
	case stopped != nil:
		resp = x.refuse(stopped)
	case err != nil:
		return Response{}, false
	case len(errs) > 0:
		resp.Result = &graphql.Response{Data: responseData(x.query, resp.written), Errors: errs}
	case found == nil && candidate == nil:
		resp.Body = resp.written
	default:
		resp.Delivery = graph.Delivery{Response: found, Candidate: candidate}
		if found == nil {
			resp.Delivery.Response = responsecache.NewResponse(bytes.Clone(resp.written), nil) // a candidate outlives the buffer
		} else if !x.Streams && opctx.Storable(x.HTTP) {
			resp.Delivery.Vary = varyCacheable
		}
		if candidate != nil {
			resp.Delivery.Count = x.countRepeated(x.query)
		}
	}
	if x.Prepared == nil && x.Sent != nil {
		x.cache.AddRequest(x.Sent, x.query)
	}
	return resp, true
}

// runGqlgen runs an operation by gqlgen's executor, within allow. A query that its plan did not run comes here too.
func (x *execution) runGqlgen(ctx context.Context) Response {
	x.query = nil
	if rejected, ok := x.allow(ctx); !ok {
		return rejected
	}
	ctx, endStep := store.StartStep(ctx, stepRun)
	if err := x.startRun(ctx, x.op); err != nil {
		endStep(err)
		return x.refuse(x.stoppedError(err))
	}
	result, stopped := x.runHandler(ctx, func(ctx context.Context) *graphql.Response {
		x.countGqlgen(ctx, x.opCtx)
		responses, ctx := x.DispatchOperation(ctx, x.opCtx)
		return responses(ctx)
	})
	switch {
	case stopped != nil:
		endStep(stopped)
		return x.refuse(stopped)
	case result == nil: // a timeout, or the client is gone
		endStep(context.Canceled)
		resp := x.refuse(store.AsErrors(context.Canceled)[0])
		resp.canceled = true
		return resp
	}
	endStep(stepError(result.Errors))
	return Response{Result: result}
}

// params returns the request, with what its document id names and without extensions that nothing reads.
func (x *execution) params() *graphql.RawParams {
	switch {
	case x.query != nil:
		return &x.query.Params
	case x.Prepared != nil:
		return &x.Prepared.Params
	}
	return &x.Params
}

// reject returns the response to an operation that must not run: Execute found errors before it.
func (x *execution) reject(ctx context.Context, errs gqlerror.List) Response {
	opCtx := x.opCtx
	if opCtx == nil {
		opCtx = &graphql.OperationContext{}
	}
	result := x.DispatchError(graphql.WithOperationContext(ctx, opCtx), errs)
	return Response{Result: result, Context: opCtx, Status: rejectStatus(x.params(), errs, x.Modern)}
}

// refuse returns the response to an operation that failed as a whole: no slot, too large, or a panic. Over HTTP an UNAVAILABLE one is
// a plain 503.
func (x *execution) refuse(err *store.Error) Response {
	errs := ErrorList(err)
	if err.Code == store.Unavailable && !x.Streams {
		errs[0].Message = err.Error()
		return Response{Plain: true, Status: http.StatusServiceUnavailable, RetryAfter: true, Result: &graphql.Response{Errors: errs}}
	}
	return Response{Result: &graphql.Response{Errors: errs}, Status: rejectStatus(x.params(), errs, x.Modern)}
}

// complete adds to a result its extensions, its status and Retry-After, and leaves as many errors as the client may get. Responses
// without a Result have no errors, and plain ones are complete.
func (x *execution) complete(ctx context.Context, resp *Response) {
	if resp.Result == nil || resp.Plain {
		return
	}
	if !x.costSent {
		addExtensions(ctx, x.op, x.params(), resp.Result)
	}
	if resp.Status == 0 && !x.Streams {
		resp.Status, resp.RetryAfter = resultStatus(resp.Result)
	}
	resp.Result.Errors = limitErrors(resp.Result.Errors)
}

// count reports the operation that a response ends: one of HTTP, or one of a stream that was rejected.
func (x *execution) count(ctx context.Context, resp *Response) {
	stats := statsOf(x.op)
	if resp.Result != nil {
		stats.Codes = addCodes(nil, resp.Result.Errors)
	}
	var began time.Time
	if !x.Streams {
		began = x.Known.Start
	}
	x.record(ctx, stats, began)
}
