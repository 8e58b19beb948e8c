package tracing

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"portico/internal/reqctx"
)

// Middleware creates a span for each request, in the trace of its traceparent header if it has one. It must run inside the layer
// that sets the start time, and outside of those that set the rest.
func (t *Tracing) Middleware(next http.Handler) http.Handler {
	if t == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, req := reqctx.Begin(r)
		ctx, span := t.start(r, req)
		if span.IsRecording() {
			req.Observer = &observer{tracing: t, next: req.Observer, budget: newSpanBudget()}
		}
		defer func() {
			describe(span, r.Method, req)
			span.End()
		}()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// Record creates the span of a request that was answered without Middleware, from its start until now.
func (t *Tracing) Record(req *reqctx.Request, r *http.Request) {
	if t == nil {
		return
	}
	_, span := t.start(r, req)
	describe(span, r.Method, req)
	span.End()
}

// start starts the span of a request, in the trace of its traceparent header, and sets req.TraceID.
func (t *Tracing) start(r *http.Request, req *reqctx.Request) (context.Context, trace.Span) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.tracer.Start(ctx, r.Method, trace.WithTimestamp(req.Start), trace.WithSpanKind(trace.SpanKindServer))
	req.TraceID = span.SpanContext().TraceID().String()
	return ctx, span
}

// describe sets the name and attributes of a span when the request has ended: the route but not the path, which may contain a code.
func describe(span trace.Span, method string, req *reqctx.Request) {
	method = methodOf(method)
	name, attributes := method, []attribute.KeyValue{attribute.String("http.request.method", method), attribute.String("portico.request_id", req.ID)}
	if route := reqctx.RoutePath(req.Route); route != "" {
		name += " " + route
		attributes = append(attributes, attribute.String("http.route", route))
	}
	if req.OperationName != "" {
		name += " " + req.OperationName
		attributes = append(attributes, attribute.String("graphql.operation.name", req.OperationName))
	}
	if req.Status != 0 {
		attributes = append(attributes, attribute.Int("http.response.status_code", req.Status))
	}
	if req.Status >= http.StatusInternalServerError {
		span.SetStatus(codes.Error, "")
	}
	span.SetName(name)
	span.SetAttributes(attributes...)
}

// methodOf returns a standard method, or _OTHER.
func methodOf(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "_OTHER"
}
