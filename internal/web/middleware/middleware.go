// Package middleware holds the handlers in front of both APIs: request ids, client addresses, panics, CORS,
// compression, body and rate limits, path normalization, health checks. It must not import the GraphQL and REST packages.
//
// The order that works, outermost first:
//
//	frontcache > NoSniff > OnRequest > RequestID > accesslog.SlowLog > tracing > ClientAddress > Recover > auth > accesslog >
//	metrics > CORS > Compress > server.RejectOverLimit > LimitBody > server.ConcurrencyLimiter > AwaitConsistency > opctx >
//	NormalizePath > RecordRoute > routes
//
// Recover runs outside of the access log, which logs a request that panics as 500. The access log runs inside auth, so that it
// knows the client.
package middleware

import (
	"context"
	"net/http"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// OnRequest calls f before each request, except health checks and those that the cache in front has counted.
func OnRequest(f func(context.Context)) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if req := reqctx.From(r.Context()); !web.IsHealthCheck(r.URL.Path) && (req == nil || !req.Counted) {
				f(r.Context())
			}
			next.ServeHTTP(w, r)
		})
	}
}

var noSniff = []string{"nosniff"}

// NoSniff sets X-Content-Type-Options: nosniff, so that browsers rely on Content-Type.
func NoSniff(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["X-Content-Type-Options"] = noSniff
		next.ServeHTTP(w, r)
	})
}

// RecordRoute records the pattern of the route that a mux matched. No handler in between may replace the request.
func RecordRoute(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if req := reqctx.From(r.Context()); req != nil {
			defer func() { req.Route = r.Pattern }()
		}
		mux.ServeHTTP(w, r)
	})
}
