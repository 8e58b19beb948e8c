package transport

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
func (h *handling) limit() plan.Limit {
	return plan.Limit{Bytes: h.bounds.AnswerBytes, Large: limits.LargeResponse, Reserve: h.reserve,
		Buffer: func() []byte { return (*largeBuffers.Get().(*[]byte))[:0] }}
}

// reserve takes an expensive turn for an operation that is running, unless it
// has one. UNAVAILABLE without one.
func (h *handling) reserve(ctx context.Context) error { return h.expensiveTurn(ctx, true) }

func (h *handling) expensiveTurn(ctx context.Context, running bool) error {
	op := opctx.From(ctx)
	if op == nil || h.turns == nil || op.ReleaseExpensive != nil {
		return nil
	}
	end, err := h.turns.AcquireExpensive(ctx, running)
	if err == nil {
		op.ReleaseExpensive = end
	}
	return err
}

// endExpensive gives the expensive turn of an operation back.
func endExpensive(ctx context.Context) {
	if op := opctx.From(ctx); op != nil && op.ReleaseExpensive != nil {
		op.ReleaseExpensive()
		op.ReleaseExpensive = nil
	}
}

// beginRun takes an expensive turn for an operation whose cost is high. The error is
// a *plan.Stopped.
func (h *handling) beginRun(ctx context.Context, asked *document.Operation) error {
	if asked.Cost == nil || asked.Cost.Requested <= h.bounds.Cost/expensivePart {
		return nil
	}
	if err := h.expensiveTurn(ctx, false); err != nil {
		return &plan.Stopped{Err: err}
	}
	return nil
}

// stopped is what a caller is told of an operation that was stopped; nil for any
// other error.
func (h *handling) stopped(err error) *store.Error {
	var stopped *plan.Stopped
	switch {
	case !errors.As(err, &stopped):
		return nil
	case errors.Is(err, plan.ErrTooLarge):
		return limits.ResponseTooLarge(h.bounds.AnswerBytes)
	}
	return store.AsErrors(stopped.Err)[0]
}

// asFaults is an error of the operation as a whole.
func asFaults(fault *store.Error) gqlerror.List {
	return gqlerror.List{{Message: model.Message(fault), Extensions: map[string]any{"code": fault.Code}}}
}

// respond calls one of the executor's response handlers; fault is why it was
// stopped, if it was.
func (h *handling) respond(ctx context.Context, responses graphql.ResponseHandler) (response *graphql.Response, fault *store.Error) {
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case *plan.Stopped:
			fault = h.stopped(reason)
		default:
			panic(reason)
		}
	}()
	response = responses(ctx)
	if most := h.bounds.AnswerBytes; most > 0 && response != nil && len(response.Data) > most { // by what is no root field: __typename, and names
		plan.Stop(plan.ErrTooLarge)
	}
	return response, nil
}

// limitedFields is aroundRootFields for the executor, which has what it returns
// write itself.
func (h *handling) limitedFields(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	value := h.aroundRootFields(ctx, next)
	if value == graphql.Null || value == graphql.RequiredNull {
		return value
	}
	return graphql.WriterFunc(func(w io.Writer) {
		if buffer, ok := w.(*bytes.Buffer); ok {
			w = &limitedBuffer{buffer, h, ctx}
		}
		value.MarshalGQL(w)
	})
}

// event is an event of a subscription as it is sent.
func (h *handling) event(ctx context.Context, event graphql.Marshaler) []byte {
	var b bytes.Buffer
	event.MarshalGQL(&limitedBuffer{&b, h, ctx})
	return b.Bytes()
}

// limitedBuffer is an answer while the executor's marshalers write it, which
// know no errors: it stops them by a panic.
type limitedBuffer struct {
	*bytes.Buffer
	handling *handling
	ctx      context.Context
}

func (b *limitedBuffer) grow(more int) {
	bytes := b.Len() + more
	if most := b.handling.bounds.AnswerBytes; most > 0 && bytes > most {
		plan.Stop(plan.ErrTooLarge)
	}
	if bytes > limits.LargeResponse {
		if err := b.handling.reserve(b.ctx); err != nil {
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
