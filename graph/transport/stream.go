package transport

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/executor"
	"portico/store"
)

// responseKey is the key of an executor.Response in the extensions of gqlgen's Stats.
const responseKey = "response"

// createOperation executes a request up to its stream. responseOf returns the response for the methods of streamServer that the
// library calls next.
func (s *streamServer) createOperation(ctx context.Context, req *executor.Request) (*graphql.OperationContext, gqlerror.List) {
	conn := ctx.Value(connectionKey{}).(*connection)
	req.Streams, req.Admit = true, func() *gqlerror.Error { return s.reserve(conn) }
	resp := s.exec.Execute(ctx, req)
	resp.Context.Stats.SetExtension(responseKey, &resp)
	if resp.Result != nil {
		return resp.Context, resp.Result.Errors
	}
	return resp.Context, nil
}

// responseOf returns the response to the operation of a context; nil if the library rejected the request.
func responseOf(opCtx *graphql.OperationContext) *executor.Response {
	resp, _ := opCtx.Stats.GetExtension(responseKey).(*executor.Response)
	return resp
}

// DispatchError implements graphql.GraphExecutor. Errors over a WebSocket have no extensions.
func (s *streamServer) DispatchError(ctx context.Context, errs gqlerror.List) *graphql.Response {
	if graphql.HasOperationContext(ctx) {
		if resp := responseOf(graphql.GetOperationContext(ctx)); resp != nil {
			return resp.Result
		}
	}
	return &graphql.Response{Errors: errs}
}

// DispatchOperation implements graphql.GraphExecutor. After the last response it returns the reason for which the server closes the
// connection, once, and then nil.
func (s *streamServer) DispatchOperation(ctx context.Context, opCtx *graphql.OperationContext) (graphql.ResponseHandler, context.Context) {
	stream, conn := responseOf(opCtx).Stream, ctx.Value(connectionKey{}).(*connection)
	if s.OnOperation != nil {
		s.OnOperation(ctx)
	}
	stream.Start(ctx)
	context.AfterFunc(ctx, func() { s.release(conn); stream.End() }) // the transports cancel ctx when the operation ends
	closed := false
	return func(ctx context.Context) *graphql.Response {
		if response := stream.Next(ctx); response != nil {
			return response
		}
		if reason := closeReasonOf(ctx); reason != nil && reason.err != nil && !closed {
			closed = true
			return &graphql.Response{Errors: executor.ErrorList(store.AsErrors(reason.err)[0])}
		}
		return nil
	}, ctx
}
