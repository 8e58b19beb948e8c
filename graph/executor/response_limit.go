package executor

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/graph/limits"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/store"
)

// The size of a response is limited while it is written: plans use plan.Limit, gqlgen's executor a
// limitedBuffer. Both stop with a *plan.Stopped, and the operation fails as a whole.

// expensivePart: an operation that costs more than limits.Config.Cost/expensivePart needs an expensive slot.
const expensivePart = 10

// limit returns the limit of every run of a plan.
func (e *Executor) limit() plan.Limit {
	return plan.Limit{Bytes: e.Limits.ResponseBytes, Large: limits.LargeResponse, Reserve: e.reserve,
		Buffer:   func() []byte { return (*largeBuffers.Get().(*[]byte))[:0] },
		Parallel: parallelFields, Trial: opctx.BeginTrial}
}

// parallelFields is the number of root fields of an operation that are resolved at once. Ten fields over
// a database 2 ms away take 12 ms instead of 36.
const parallelFields = 4

// reserve takes an expensive slot for a running operation, unless it has one. The error is UNAVAILABLE.
func (e *Executor) reserve(ctx context.Context) error { return e.acquireExpensive(ctx, true) }

// acquireExpensive takes an expensive slot, unless the operation has one. inMemory says that part of the response is in memory.
func (e *Executor) acquireExpensive(ctx context.Context, inMemory bool) error {
	op := opctx.From(ctx)
	if op == nil || e.Limiter == nil || op.EndExpensiveSlot != nil {
		return nil
	}
	end, err := e.Limiter.AcquireExpensive(ctx, inMemory)
	if err == nil {
		op.EndExpensiveSlot = end
	}
	return err
}

// ReleaseExpensiveSlot ends the expensive slot of the operation of ctx, if it has one. Transports and streams call it after each
// response that they have written. It may be called again.
func ReleaseExpensiveSlot(ctx context.Context) {
	if op := opctx.From(ctx); op != nil && op.EndExpensiveSlot != nil {
		op.EndExpensiveSlot()
		op.EndExpensiveSlot = nil
	}
}

// startRun is called before each run, and takes an expensive slot for an operation of high cost. The error is a *plan.Stopped.
func (e *Executor) startRun(ctx context.Context, op *document.Operation) error {
	if op.Cost == nil || op.Cost.Requested <= e.Limits.Cost/expensivePart {
		return nil
	}
	if err := e.acquireExpensive(ctx, false); err != nil {
		return &plan.Stopped{Err: err}
	}
	return nil
}

// stoppedError returns the client's error for a *plan.Stopped; nil for any other error.
func (e *Executor) stoppedError(err error) *store.Error {
	var stopped *plan.Stopped
	switch {
	case !errors.As(err, &stopped):
		return nil
	case errors.Is(err, plan.ErrTooLarge):
		return limits.ResponseTooLarge(e.Limits.ResponseBytes)
	}
	return store.AsErrors(stopped.Err)[0]
}

// ErrorList returns the errors of an operation that failed as a whole.
func ErrorList(err *store.Error) gqlerror.List {
	return gqlerror.List{{Message: model.Message(err), Extensions: map[string]any{"code": err.Code}}}
}

// runHandler calls a response handler of gqlgen's executor. err is not nil if the operation was stopped.
func (e *Executor) runHandler(ctx context.Context, handler graphql.ResponseHandler) (resp *graphql.Response, err *store.Error) {
	err = e.catch(ctx, func() {
		resp = handler(ctx)
		if most := e.Limits.ResponseBytes; most > 0 && resp != nil && len(resp.Data) > most { // with names and __typename, which no limitedBuffer counts
			plan.Stop(plan.ErrTooLarge)
		}
	})
	return resp, err
}

// limitRootFields is aroundRootFields for gqlgen's executor, which writes the returned value later.
func (e *Executor) limitRootFields(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	value := e.aroundRootFields(ctx, next)
	if value == graphql.Null || value == graphql.RequiredNull {
		return value
	}
	return graphql.WriterFunc(func(w io.Writer) {
		if buffer, ok := w.(*bytes.Buffer); ok {
			w = &limitedBuffer{buffer, e, ctx}
		}
		value.MarshalGQL(w)
	})
}

// writeEvent returns the JSON of a subscription's event, and limits its size as limitRootFields does. Generated code calls it.
func (e *Executor) writeEvent(ctx context.Context, event graphql.Marshaler) []byte {
	var b bytes.Buffer
	event.MarshalGQL(&limitedBuffer{&b, e, ctx})
	return b.Bytes()
}

// limitedBuffer is the buffer of a response of gqlgen's executor. Its marshalers ignore errors of
// writing, so it stops them by a panic.
type limitedBuffer struct {
	*bytes.Buffer
	exec *Executor
	ctx  context.Context
}

// grow is called before more bytes are written. Above the limit it stops, above limits.LargeResponse it takes an expensive slot.
func (b *limitedBuffer) grow(more int) {
	size := b.Len() + more
	if most := b.exec.Limits.ResponseBytes; most > 0 && size > most {
		plan.Stop(plan.ErrTooLarge)
	}
	if size > limits.LargeResponse {
		if err := b.exec.reserve(b.ctx); err != nil {
			plan.Stop(err)
		}
	}
}

// Write implements io.Writer.
func (b *limitedBuffer) Write(text []byte) (int, error) {
	b.grow(len(text))
	return b.Buffer.Write(text)
}

// WriteString implements io.StringWriter.
func (b *limitedBuffer) WriteString(text string) (int, error) {
	b.grow(len(text))
	return b.Buffer.WriteString(text)
}

// A response without errors is responseStart, the data and one of responseEnds: responseEnd, or extensions and responseEnd.
const (
	responseStart = `{"data":`
	responseEnd   = "}\n"
)

// responseData returns the data of a response that was written for op.
func responseData(op *document.PreparedOperation, body []byte) []byte {
	body = body[len(responseStart):]
	for _, end := range responseEnds(op) {
		if data, found := bytes.CutSuffix(body, []byte(end)); found {
			return data
		}
	}
	return body
}

// buffers holds buffers for responses.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 64<<10); return &b }}

// largeBuffers holds buffers for responses above limits.LargeResponse, so that a response does not
// reallocate while it grows. The slots of AcquireExpensive bound how many are in use.
var largeBuffers = sync.Pool{New: func() any { b := make([]byte, 0, largeBuffer); return &b }}

// largeBuffer is their size: the default of limits.Config.ResponseBytes, and some for the last value.
const largeBuffer = 8<<20 + 64<<10

// getBuffer returns a buffer for one response.
func getBuffer() *[]byte { return buffers.Get().(*[]byte) }

// putBuffer returns the buffer of a response to its pool, with the larger array if body has outgrown it. body above
// limits.LargeResponse goes to largeBuffers.
func putBuffer(buffer *[]byte, body []byte) {
	switch {
	case cap(body) > limits.LargeResponse && cap(body) <= largeBuffer:
		largeBuffers.Put(&body)
	case cap(body) > cap(*buffer) && cap(body) <= limits.LargeResponse:
		*buffer = body
	}
	buffers.Put(buffer)
}
