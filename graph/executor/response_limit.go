package executor

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"portico/graph/document"
	"portico/graph/limits"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/plan"
	"portico/store"
)

// An answer is bounded in bytes while it is written, by whatever writes it:
// plans by plan.Limit, gqlgen's executor by a limitedBuffer around its buffer.
// Both stop with a *plan.Stopped, and the operation fails as a whole.

// expensivePart is the part of Bounds.Cost from which on an operation needs an
// expensive turn.
const expensivePart = 10

// limit is what every run of a plan obeys.
func (e *Executor) limit() plan.Limit {
	return plan.Limit{Bytes: e.Bounds.AnswerBytes, Large: limits.LargeResponse, Reserve: e.reserve,
		Buffer: func() []byte { return (*largeBuffers.Get().(*[]byte))[:0] }}
}

// reserve takes an expensive turn for an operation that is running, unless it
// has one. UNAVAILABLE without one.
func (e *Executor) reserve(ctx context.Context) error { return e.acquireExpensive(ctx, true) }

func (e *Executor) acquireExpensive(ctx context.Context, running bool) error {
	op := opctx.From(ctx)
	if op == nil || e.Limiter == nil || op.ReleaseExpensive != nil {
		return nil
	}
	end, err := e.Limiter.AcquireExpensive(ctx, running)
	if err == nil {
		op.ReleaseExpensive = end
	}
	return err
}

// ReleaseExpensive gives the expensive turn of an operation back.
func ReleaseExpensive(ctx context.Context) {
	if op := opctx.From(ctx); op != nil && op.ReleaseExpensive != nil {
		op.ReleaseExpensive()
		op.ReleaseExpensive = nil
	}
}

// StartRun takes an expensive turn for an operation whose cost is high. The error is
// a *plan.Stopped.
func (e *Executor) StartRun(ctx context.Context, asked *document.Operation) error {
	if asked.Cost == nil || asked.Cost.Requested <= e.Bounds.Cost/expensivePart {
		return nil
	}
	if err := e.acquireExpensive(ctx, false); err != nil {
		return &plan.Stopped{Err: err}
	}
	return nil
}

// StoppedError is what a caller is told of an operation that was stopped; nil for any
// other error.
func (e *Executor) StoppedError(err error) *store.Error {
	var stopped *plan.Stopped
	switch {
	case !errors.As(err, &stopped):
		return nil
	case errors.Is(err, plan.ErrTooLarge):
		return limits.ResponseTooLarge(e.Bounds.AnswerBytes)
	}
	return store.AsErrors(stopped.Err)[0]
}

// ErrorList is an error of the operation as a whole.
func ErrorList(fault *store.Error) gqlerror.List {
	return gqlerror.List{{Message: model.Message(fault), Extensions: map[string]any{"code": fault.Code}}}
}

// respond calls one of the executor's response handlers; fault is why it was
// stopped, if it was.
func (e *Executor) RunHandler(ctx context.Context, responses graphql.ResponseHandler) (response *graphql.Response, fault *store.Error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case *plan.Stopped:
			fault = e.StoppedError(reason)
		default:
			panic(reason)
		}
	}()
	response = responses(ctx)
	if most := e.Bounds.AnswerBytes; most > 0 && response != nil && len(response.Data) > most { // by what is no root field: __typename, and names
		plan.Stop(plan.ErrTooLarge)
	}
	return response, nil
}

// limitRootFields is aroundRootFields for the executor, which has what it returns
// write itself.
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

// writeEvent is an event of a subscription as it is sent.
func (e *Executor) writeEvent(ctx context.Context, event graphql.Marshaler) []byte {
	var b bytes.Buffer
	event.MarshalGQL(&limitedBuffer{&b, e, ctx})
	return b.Bytes()
}

// limitedBuffer is an answer while the executor's marshalers write it, which
// know no errors: it stops them by a panic.
type limitedBuffer struct {
	*bytes.Buffer
	exec *Executor
	ctx  context.Context
}

func (b *limitedBuffer) grow(more int) {
	bytes := b.Len() + more
	if most := b.exec.Bounds.AnswerBytes; most > 0 && bytes > most {
		plan.Stop(plan.ErrTooLarge)
	}
	if bytes > limits.LargeResponse {
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
