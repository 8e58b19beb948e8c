// Package incoming is what is known of a request while it is answered: one
// struct on its context, which the layers in front of both surfaces fill in,
// each its part, before the next one runs. So a layer costs neither a context
// of its own nor a copy of the request.
package reqctx

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"portico/store"
)

// Request is the context of a request, and what the layers found out. Each
// member says who sets it; it is empty where that layer is not there. Nobody
// sets anything once the handler runs, but for Route, Status, Lasting and
// Named.
type Request struct {
	context.Context

	Start          time.Time   // Begin
	ID             string      // web.RequestID
	Address        netip.Addr  // web.Address: where it came from; not valid when that is no address
	ResponseHeader http.Header // web.Address: the header of its answer
	Caller         any         // auth.Service.Middleware: a *auth.Principal, or what is wrong with the token
	Operation      any         // opctx.Operation of the request
	Writer         any         // web.Turns.Middleware: what writes its answer
	MaxBody        int64       // web.LimitBody: how long its body may be
	Route          string      // web.Route: the pattern of the mux, once it is answered
	Status         int         // web.Metrics: of the answer, once it is given
	Streaming      bool        // graph: the answer has no end of its own, so that how long it took says nothing
	OperationName  string      // graph: the name of the operation, once it is read; empty for none

	LockWaiter store.LockWaitListener // web.Turns: who learns that a write waits for a lock; nil for nobody
	Observer   store.Observer         // web.Slow, tracing: who is told of what is done for it; nil for nobody
	Effort     store.QueryStats       // web.Slow: what it asked of the database
	TraceID    string                 // tracing: the trace that it is part of; empty for none

	headerValue [1]string
}

// DefaultMaxBody is how long a body may be unless a layer says otherwise.
const DefaultMaxBody = 4 << 20

// MaxBody is how long the body of the request that a context belongs to may be.
func MaxBody(ctx context.Context) int64 {
	if r := From(ctx); r != nil && r.MaxBody > 0 {
		return r.MaxBody
	}
	return DefaultMaxBody
}

// RoutePath is a mux's pattern without its method: /v2/promotions/{id}; empty
// for its last resort.
func RoutePath(pattern string) string {
	_, path, ok := strings.Cut(pattern, " ")
	if !ok {
		path = pattern
	}
	switch path {
	case "/":
		return ""
	case "/{$}":
		return "/"
	}
	return path
}

// Network is what counts as one address: of IPv6 the /64, all of which one host
// may have. It is empty for an address that is not valid.
func Network(at netip.Addr) string {
	if !at.Is6() {
		if !at.IsValid() {
			return ""
		}
		return at.String()
	}
	prefix, _ := at.Prefix(64) // an address of IPv6 has one
	return prefix.String()
}

type key struct{}

// Value implements context.Context.
func (r *Request) Value(of any) any {
	switch {
	case of == any(key{}):
		return r
	case of == store.ObserverKey && r.Observer != nil:
		return r.Observer
	case of == store.AllowanceKey && r.Operation != nil:
		return r.Operation
	case of == store.LockWaitListenerKey && r.LockWaiter != nil:
		return r.LockWaiter
	}
	return r.Context.Value(of)
}

// HeaderValue is a header's value of one line, which is kept in the request itself.
// There is but one.
func (r *Request) HeaderValue(text string) []string {
	r.headerValue[0] = text
	return r.headerValue[:]
}

// From is the request that a context belongs to; nil when it belongs to none.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(key{}).(*Request)
	return r
}

// Begin is the request with its struct on the context, which is there already
// unless this is the first layer.
func Begin(r *http.Request) (*http.Request, *Request) {
	if begun := From(r.Context()); begun != nil {
		return r, begun
	}
	begun := &Request{Context: r.Context(), Start: time.Now()}
	return r.WithContext(begun), begun
}

type traceKey struct{}

// WithTraceID has what is done under a context be part of a trace, where there is
// no request: of a job, or a sweep.
func WithTraceID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, traceKey{}, id)
}

// TraceID is the trace that a context is part of; empty for none.
func TraceID(ctx context.Context) string {
	if id, ok := ctx.Value(traceKey{}).(string); ok {
		return id
	}
	if r := From(ctx); r != nil {
		return r.TraceID
	}
	return ""
}
