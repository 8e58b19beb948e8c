package tracing

import (
	"context"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"portico/internal/reqctx"
	"portico/store"
)

const (
	// maxSpans bounds the spans within one request or job: a publication has
	// thousands of statements.
	maxSpans = 500

	maxQuery = 2 << 10 // bytes of a statement
)

// observer makes spans of what is done for a request or a job. next is told of
// it too.
type observer struct {
	tracing *Tracing
	next    store.Observer // nil for nobody
	room    *atomic.Int64  // for spans, shared by all within
}

func newRoom() *atomic.Int64 {
	room := &atomic.Int64{}
	room.Store(maxSpans)
	return room
}

// Begin implements store.Observer. What is no part of a request is traced only
// if it is a job or a sweep, each a trace of its own, which what they log names.
func (o *observer) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	alone := strings.HasPrefix(step, store.StepJob) || strings.HasPrefix(step, store.StepSweep)
	switch {
	case alone:
		ctx = store.WithObserver(ctx, &observer{tracing: o.tracing, next: o.next, room: newRoom()})
		ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{})
	case !trace.SpanContextFromContext(ctx).IsValid(), o.room.Add(-1) < 0:
		return o.beyond(ctx, step)
	}
	ctx, span := o.tracing.tracer.Start(ctx, step)
	if alone {
		ctx = reqctx.WithTraceID(ctx, span.SpanContext().TraceID().String())
	}
	ctx, end := o.beyond(ctx, step)
	return ctx, func(err error) {
		failed(span, err)
		span.End()
		end(err)
	}
}

// beyond tells next, which may have another be told of what is done within.
func (o *observer) beyond(ctx context.Context, step string) (context.Context, func(error)) {
	if o.next == nil {
		return ctx, func(error) {}
	}
	before := store.ObserverOf(ctx)
	within, end := o.next.Begin(ctx, step)
	if other := store.ObserverOf(within); other != before {
		within = store.WithObserver(within, &observer{tracing: o.tracing, next: other, room: o.room})
	}
	return within, end
}

// Statement implements store.Observer.
func (o *observer) Statement(ctx context.Context, query string, began time.Time, rows int64, err error) {
	if o.next != nil {
		o.next.Statement(ctx, query, began, rows, err)
	}
	if !trace.SpanContextFromContext(ctx).IsValid() || o.room.Add(-1) < 0 {
		return
	}
	text := compact(query)
	name, _, _ := strings.Cut(text, " ")
	_, span := o.tracing.tracer.Start(ctx, name, trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(o.tracing.engine, attribute.String("db.operation.name", name), attribute.String("db.query.text", text)))
	failed(span, err)
	span.End()
}

// failed marks what failed, and says nothing of how: errors quote what was
// sent.
func failed(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
}

// compact is a statement in one line, of which the first part is enough.
func compact(query string) string {
	text := strings.Join(strings.Fields(query[:min(len(query), 2*maxQuery)]), " ")
	if len(text) > maxQuery {
		text = text[:maxQuery]
	}
	for len(text) > 0 && !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
