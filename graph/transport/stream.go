package transport

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/opctx"
	"portico/store"
)

// streamOperation is an operation of a stream.
type streamOperation struct {
	*document.Operation
	params graphql.RawParams           // as sent
	query  *document.PreparedOperation // nil if gqlgen's executor runs the operation
}

// streamOperationKey is the key of a streamOperation in the extensions of gqlgen's Stats.
const streamOperationKey = "streamOperation"

// CreateOperationContext implements graphql.GraphExecutor. The errors are redacted already.
func (s *streamServer) CreateOperationContext(ctx context.Context, params *graphql.RawParams) (*graphql.OperationContext, gqlerror.List) {
	opCtx, sent := &graphql.OperationContext{}, *params
	_, endStep := store.StartStep(ctx, executor.StepPrepare)
	op, query, errs := s.prepare(ctx, params)
	endStep(executor.StepError(errs))
	if errs == nil {
		opCtx, errs = s.createContext(graphql.StartOperationTrace(ctx), op, params)
	}
	if conn, _ := ctx.Value(connectionKey{}).(*connection); errs == nil {
		if conn.readOnly && opCtx.Operation.Operation == ast.Mutation {
			byGet := mutationByGet()
			errs = gqlerror.List{{Message: byGet.message, Extensions: map[string]any{"code": byGet.code}}}
		} else if err := s.reserve(conn); err != nil {
			errs = gqlerror.List{err}
		}
	}
	if errs != nil {
		response := s.exec.DispatchError(graphql.WithOperationContext(ctx, opCtx), errs)
		s.exec.RecordRejected(ctx, op, response.Errors)
		opCtx.Stats.SetExtension(streamOperationKey, &streamOperation{op, sent, nil})
		return opCtx, s.redactResponse(&sent, response).Errors
	}
	opCtx.Stats.SetExtension(streamOperationKey, &streamOperation{op, sent, query})
	return opCtx, nil
}

// DispatchError implements graphql.GraphExecutor for redacted errors. It adds the cost, which errors over
// a WebSocket cannot have.
func (s *streamServer) DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response {
	response := &graphql.Response{Errors: errs}
	if graphql.HasOperationContext(ctx) {
		if op, ok := graphql.GetOperationContext(ctx).Stats.GetExtension(streamOperationKey).(*streamOperation); ok {
			executor.AddCost(op.Operation, &op.params, response)
		}
	}
	return response
}

// DispatchOperation implements graphql.GraphExecutor. Each response has its own slot of the concurrency
// limiter and its own budget.
func (s *streamServer) DispatchOperation(ctx context.Context, opCtx *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	op, conn := opCtx.Stats.GetExtension(streamOperationKey).(*streamOperation), ctx.Value(connectionKey{}).(*connection)
	if s.OnOperation != nil {
		s.OnOperation(ctx)
	}
	stats := s.exec.StartStream(ctx, op.Operation)
	context.AfterFunc(ctx, func() { s.release(conn); stats.End() }) // the transports cancel ctx when the operation ends
	kind := opCtx.Operation.Operation
	begin := func(ctx context.Context) context.Context { return withBudget(ctx, opctx.NewBudget(op.Allowance)) }
	if kind == ast.Subscription {
		field := graphql.CollectFields(opCtx, opCtx.Operation.SelectionSet, []string{"Subscription"})[0]
		s.exec.CountFields(ctx, []string{"Subscription." + field.Name})
		begin = func(ctx context.Context) context.Context { // with the field, which the library omits in paths of events
			return graphql.WithFieldContext(newOperation(ctx, opctx.NewBudget(op.Allowance)), &graphql.FieldContext{Object: "Subscription", Field: field})
		}
	}
	var respond graphql.ResponseHandler
	base := ctx
	if err := s.exec.Catch(ctx, func() { respond, base = s.dispatch(withBudget(ctx, opctx.NewBudget(op.Allowance)), opCtx, op) }); err != nil {
		respond = graphql.OneShot(&graphql.Response{Errors: executor.ErrorList(err)})
	}
	closed, rejected, first := false, false, true
	event := ctx // of the last response, which the transport has written when it asks for the next
	return func(ctx context.Context) *graphql.Response {
		executor.ReleaseExpensive(event)
		if rejected {
			return nil
		}
		end, err := s.acquire(ctx, kind)
		if err != nil {
			rejected = true
			errs := executor.ErrorList(store.AsErrors(err)[0])
			stats.AddErrors(errs)
			return &graphql.Response{Errors: errs}
		}
		defer end()
		event = store.WithLockWaitListener(begin(base), store.LockWaitFunc(end))
		response := s.nextResponse(event, op.Operation, respond)
		if response != nil {
			stats.AddErrors(response.Errors)
			if first {
				executor.AddCost(op.Operation, &op.params, response)
			}
			first = false
			return s.redactResponse(&op.params, response)
		}
		executor.ReleaseExpensive(event)
		if reason := closeReasonOf(ctx); reason != nil && reason.err != nil && !closed {
			closed = true
			return &graphql.Response{Errors: executor.ErrorList(store.AsErrors(reason.err)[0])}
		}
		return nil
	}, ctx
}

// nextResponse returns the next response of an operation; nil if it ended.
func (s *streamServer) nextResponse(ctx context.Context, op *document.Operation, respond graphql.ResponseHandler) *graphql.Response {
	var stopped *store.Error
	if !op.IsSubscription() { // a subscription waits for its event first
		stopped = s.exec.StoppedError(s.exec.StartRun(ctx, op))
	}
	var response *graphql.Response
	if stopped == nil {
		response, stopped = s.exec.RunHandler(ctx, respond)
	}
	if stopped != nil {
		return &graphql.Response{Errors: executor.ErrorList(stopped)}
	}
	return response
}

// dispatch returns a handler that runs an operation when it is first called: a query by its plan,
// everything else by gqlgen's executor.
func (s *streamServer) dispatch(ctx context.Context, opCtx *graphql.OperationContext, op *streamOperation) (graphql.ResponseHandler, context.Context) {
	if opCtx.Operation.Operation == ast.Subscription {
		return s.exec.DispatchOperation(ctx, opCtx)
	}
	done := false
	return func(ctx context.Context) *graphql.Response {
		if done || ctx.Err() != nil {
			return nil
		}
		done = true
		if op.query != nil {
			if response, ok := s.exec.StreamPlan(ctx, op.query, opCtx.Headers); ok {
				return response
			}
			ctx = withBudget(ctx, opctx.NewBudget(op.Allowance)) // the plan that failed may have spent the first
		}
		s.exec.CountGqlgen(ctx, opCtx)
		ctx, endStep := store.StartStep(ctx, executor.StepRun)
		respond, ctx := s.exec.DispatchOperation(ctx, opCtx)
		response := respond(ctx)
		if response == nil {
			endStep(context.Canceled)
			return nil
		}
		endStep(executor.StepError(response.Errors))
		return response
	}, ctx
}

// acquire takes a slot of the concurrency limiter, except for a subscription, which waits for events.
func (s *streamServer) acquire(ctx context.Context, kind ast.Operation) (end func(), err error) {
	switch {
	case s.exec.Limiter == nil || kind == ast.Subscription:
		return func() {}, nil
	case kind == ast.Mutation:
		return s.exec.Limiter.AcquireWrite(ctx)
	}
	return s.exec.Limiter.AcquireRead(ctx)
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
