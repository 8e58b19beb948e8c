package tracing

import (
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"portico/internal/reqctx"
)

// Middleware makes a span of each request, which is part of its caller's trace
// where the header traceparent names one. It belongs behind what times
// requests, and around all that knows more of them.
func (t *Tracing) Middleware(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, known := reqctx.Begin(r)
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, r.Method, trace.WithTimestamp(known.Start), trace.WithSpanKind(trace.SpanKindServer))
		known.TraceID = span.SpanContext().TraceID().String()
		if span.IsRecording() {
			known.Observer = &observer{tracing: t, next: known.Observer, room: newRoom()}
		}
		defer func() {
			describe(span, r.Method, known)
			span.End()
		}()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// describe says what a request was, once that is known: its route and not its
// path, which may hold a code.
func describe(span trace.Span, method string, known *reqctx.Request) {
	method = methodOf(method)
	name, attributes := method, []attribute.KeyValue{attribute.String("http.request.method", method), attribute.String("portico.request_id", known.ID)}
	if route := reqctx.RoutePath(known.Route); route != "" {
		name += " " + route
		attributes = append(attributes, attribute.String("http.route", route))
	}
	if known.OperationName != "" {
		name += " " + known.OperationName
		attributes = append(attributes, attribute.String("graphql.operation.name", known.OperationName))
	}
	if known.Status != 0 {
		attributes = append(attributes, attribute.Int("http.response.status_code", known.Status))
	}
	if known.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.SetName(name)
	span.SetAttributes(attributes...)
}

// methodOf is a method that somebody could mean.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}
