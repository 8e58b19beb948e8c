package executor

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/opctx"
	"portico/store"
)

// Stream is an operation that a stream answers: Execute has prepared and allowed it, and Next does the other steps for each
// response. Each response has its own slot of the concurrency limiter and its own budget, and each event of a subscription its own
// view. It is not safe for concurrent use, but for End.
type Stream struct {
	// execution is in execute.go.
	execution
	ctx    context.Context         // of the operation
	start  time.Time               // of the operation
	base   context.Context         // of all responses: ctx, with what DispatchOperation adds
	field  graphql.CollectedField  // of a subscription
	events graphql.ResponseHandler // of a subscription; nil for other operations
	last   context.Context         // of the last response, which the transport has written when it calls Next
	ended  bool                    // Next returns nil from now on

	mu    sync.Mutex
	stats OperationStats // for End, with the codes of all responses so far
}

// Start begins the operation in a context that ends with it.
func (s *Stream) Start(ctx context.Context) {
	s.ctx, s.base, s.last, s.start, s.stats = ctx, ctx, ctx, time.Now(), statsOf(s.op)
	if !s.op.IsSubscription() {
		return
	}
	if s.CountSubscription != nil {
		s.CountSubscription(ctx, s.stats)
	}
	s.field = graphql.CollectFields(s.opCtx, s.opCtx.Operation.SelectionSet, []string{"Subscription"})[0]
	s.countFields(ctx, []string{"Subscription." + s.field.Name})
	if err := s.catch(ctx, func() {
		s.events, s.base = s.DispatchOperation(withBudget(ctx, opctx.NewBudget(s.op.Allowance)), s.opCtx)
	}); err != nil {
		s.events = graphql.OneShot(&graphql.Response{Errors: ErrorList(err)})
	}
}

// End reports the operation. Call it once. Next may still run, on another goroutine.
func (s *Stream) End() {
	s.mu.Lock()
	defer s.mu.Unlock()
	began := s.start
	if s.op.IsSubscription() {
		began = time.Time{} // its duration means nothing: record leaves it out
	}
	s.record(s.ctx, s.stats, began)
}

// addCodes adds the codes of the errors of a response.
func (s *Stream) addCodes(errs gqlerror.List) {
	if len(errs) > 0 {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stats.Codes = addCodes(s.stats.Codes, errs)
	}
}

// Next waits for the next response and returns it; nil if the operation ended. It ends the expensive slot of the response before.
func (s *Stream) Next(ctx context.Context) *graphql.Response {
	ReleaseExpensiveSlot(s.last) // the response before was written
	if s.ended || ctx.Err() != nil {
		return nil
	}
	end, err := s.acquire(ctx)
	if err != nil {
		s.ended = true
		errs := ErrorList(store.AsErrors(err)[0])
		s.addCodes(errs)
		return &graphql.Response{Errors: errs}
	}
	defer end()
	s.last = store.WithLockWaitListener(s.begin(), store.LockWaitFunc(end)) // a write that waits for locked rows gives its slot back
	resp := s.respond()
	if resp.Result == nil {
		ReleaseExpensiveSlot(s.last)
		return nil
	}
	s.complete(s.last, &resp)
	s.costSent = true // only the first response has it
	s.addCodes(resp.Result.Errors)
	return resp.Result
}

// begin returns the context of a response. That of an event has the field, which the library omits in its paths.
func (s *Stream) begin() context.Context {
	budget := opctx.NewBudget(s.op.Allowance)
	if s.op.IsSubscription() {
		return graphql.WithFieldContext(newOperation(s.base, budget), &graphql.FieldContext{Object: "Subscription", Field: s.field})
	}
	return withBudget(s.base, budget)
}

// respond waits for the next event, or runs an operation of another kind. The response has no result if there is none.
func (s *Stream) respond() Response {
	if s.events != nil {
		result, stopped := s.runHandler(s.last, s.events)
		if stopped != nil {
			return s.refuse(stopped)
		}
		return Response{Result: result}
	}
	s.ended = true
	resp := s.run(s.last)
	defer resp.Release()
	switch {
	case resp.canceled:
		return Response{}
	case resp.Delivery.Response != nil:
		return Response{Result: &graphql.Response{Data: responseData(s.query, resp.Delivery.Response.Body)}}
	case resp.Result == nil:
		return Response{Result: &graphql.Response{Data: bytes.Clone(responseData(s.query, resp.Body))}}
	case resp.buffer != nil:
		resp.Result.Data = bytes.Clone(resp.Result.Data)
	}
	return Response{Result: resp.Result}
}

// newOperation begins another operation of the same shopper, with a view of its own.
func newOperation(ctx context.Context, budget *opctx.Budget) context.Context {
	return opctx.With(ctx, &opctx.Operation{Shopper: opctx.Shopper(ctx), Budget: budget})
}

// withBudget sets the budget of a request's operation, which keeps its idempotency key. On a connection
// it begins a new operation.
func withBudget(ctx context.Context, budget *opctx.Budget) context.Context {
	if op := opctx.From(ctx); op != nil && op.Idempotency != nil {
		op.Budget = budget
		return ctx
	}
	return newOperation(ctx, budget)
}
