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
	// maxSpans limits the spans of a request or job: a publication runs thousands of statements.
	maxSpans = 500

	maxQueryBytes = 2 << 10 // bytes of a statement
)

// observer creates spans for the steps and statements of a request or job, and notifies next.
type observer struct {
	tracing *Tracing
	next    store.Observer // nil for nobody
	budget  *atomic.Int64  // spans left; of one request or job, whose observers share it
}

// newSpanBudget returns the budget of a request or job.
func newSpanBudget() *atomic.Int64 {
	budget := &atomic.Int64{}
	budget.Store(maxSpans)
	return budget
}

// Begin implements store.Observer. Outside of requests it traces jobs and sweeps only, each as a trace of its own, whose id their
// log lines have. Steps beyond the budget have no span.
func (o *observer) Begin(ctx context.Context, step string) (context.Context, func(error)) {
	root := strings.HasPrefix(step, store.StepJob) || strings.HasPrefix(step, store.StepSweep)
	switch {
	case root:
		ctx = store.WithObserver(ctx, &observer{tracing: o.tracing, next: o.next, budget: newSpanBudget()})
		ctx = trace.ContextWithSpanContext(ctx, trace.SpanContext{}) // so that Start begins a trace
	case !trace.SpanContextFromContext(ctx).IsValid(), o.budget.Add(-1) < 0:
		return o.notifyNext(ctx, step)
	}
	ctx, span := o.tracing.tracer.Start(ctx, step)
	if root {
		ctx = reqctx.WithTraceID(ctx, span.SpanContext().TraceID().String())
	}
	ctx, end := o.notifyNext(ctx, step)
	return ctx, func(err error) {
		markFailed(span, err)
		span.End()
		end(err)
	}
}

// notifyNext notifies next, which may replace the observer of the context.
func (o *observer) notifyNext(ctx context.Context, step string) (context.Context, func(error)) {
	if o.next == nil {
		return ctx, func(error) {}
	}
	before := store.ObserverOf(ctx)
	within, end := o.next.Begin(ctx, step)
	if other := store.ObserverOf(within); other != before {
		within = store.WithObserver(within, &observer{tracing: o.tracing, next: other, budget: o.budget})
	}
	return within, end
}

// Statement implements store.Observer.
func (o *observer) Statement(ctx context.Context, query string, began time.Time, rows int64, err error) {
	if o.next != nil {
		o.next.Statement(ctx, query, began, rows, err)
	}
	if !trace.SpanContextFromContext(ctx).IsValid() || o.budget.Add(-1) < 0 {
		return
	}
	text := singleLine(query)
	name, _, _ := strings.Cut(text, " ")
	_, span := o.tracing.tracer.Start(ctx, name, trace.WithTimestamp(began), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(o.tracing.dbSystem, attribute.String("db.operation.name", name), attribute.String("db.query.text", text)))
	markFailed(span, err)
	span.End()
}

// markFailed sets the status only: error texts can quote values.
func markFailed(span trace.Span, err error) {
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
}

// singleLine returns the first maxQueryBytes of a statement on one line.
func singleLine(query string) string {
	text := strings.Join(strings.Fields(query[:min(len(query), 2*maxQueryBytes)]), " ")
	if len(text) > maxQueryBytes {
		text = text[:maxQueryBytes]
	}
	for len(text) > 0 && !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
