// Package reqctx holds what is known of an HTTP request: one Request on its context, which each layer in front of both APIs fills
// in before the next one runs. So a layer needs neither a context nor a copy of the request. It must not import those layers.
package reqctx

import (
	"context"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"portico/store"
)

// Request is the context of a request, with what the layers found out. Each field names the layer that sets it; it is empty without
// that layer. Once the handler runs, only Route, Status, Streaming, OperationName and Candidate change.
type Request struct {
	context.Context

	Start          time.Time   // Begin
	ID             string      // middleware.RequestID
	Address        netip.Addr  // middleware.ClientAddress; invalid if unknown
	ResponseHeader http.Header // middleware.ClientAddress: for layers that have only a context, as middleware.RateLimit
	Caller         any         // auth.Service.Middleware: a *auth.Principal, or the error of the token
	Operation      any         // opctx.Operation of the request
	Writer         any         // server.ConcurrencyLimiter.Middleware: the response writer
	MaxBody        int64       // middleware.LimitBody: size limit of the body
	Route          string      // middleware.RecordRoute: the mux pattern, after the handler returned
	Status         int         // metrics: of the response, after the handler returned
	Streaming      bool        // graph: the response is a stream, so that its duration means nothing
	OperationName  string      // graph: name of the operation, once it is parsed; empty for none

	LockWaiter store.LockWaitListener // server.ConcurrencyLimiter: is told that a write waits for a lock; nil for none
	Observer   store.Observer         // accesslog.SlowLog, tracing: observes database statements; nil for none
	QueryStats store.QueryStats       // accesslog.SlowLog: statements of the request and their time
	TraceID    string                 // tracing; empty for none

	Counted        bool // frontcache: middleware.OnRequest must not count it again
	WantsCandidate bool // frontcache: whether the handler shall set Candidate
	Candidate      any  // rest, graph: a *responsecache.Candidate, how to answer requests that repeat this one; nil for none

	headerValue [1]string // of HeaderValue
}

// DefaultMaxBody is the size limit of a request body unless a layer sets another, in bytes.
const DefaultMaxBody = 4 << 20

// MaxBody returns the size limit of the body of the request that ctx belongs to.
func MaxBody(ctx context.Context) int64 {
	if r := From(ctx); r != nil && r.MaxBody > 0 {
		return r.MaxBody
	}
	return DefaultMaxBody
}

// RoutePath returns a mux pattern without its method, such as /v2/promotions/{id}; empty for "/".
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

// Network returns the key by which limits count an address: an IPv6 address counts as its /64, which one host may have. It is
// empty for an invalid address.
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

// key is the context key of the Request, which Request.Value returns itself.
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

// HeaderValue returns text as the value of a header field, without allocation. A request has room for one.
func (r *Request) HeaderValue(text string) []string {
	r.headerValue[0] = text
	return r.headerValue[:]
}

// From returns the request that ctx belongs to; nil for none.
func From(ctx context.Context) *Request {
	r, _ := ctx.Value(key{}).(*Request)
	return r
}

// Begin returns the request with a Request on its context. The first layer creates it.
func Begin(r *http.Request) (*http.Request, *Request) {
	if begun := From(r.Context()); begun != nil {
		return r, begun
	}
	begun := &Request{Context: r.Context(), Start: time.Now()}
	return r.WithContext(begun), begun
}

// traceKey is the context key of WithTraceID.
type traceKey struct{}

// WithTraceID returns a context that belongs to a trace, for jobs and sweeps, which have no request.
func WithTraceID(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, traceKey{}, id)
}

// TraceID returns the trace that ctx belongs to; empty for none.
func TraceID(ctx context.Context) string {
	if id, ok := ctx.Value(traceKey{}).(string); ok {
		return id
	}
	if r := From(ctx); r != nil {
		return r.TraceID
	}
	return ""
}
