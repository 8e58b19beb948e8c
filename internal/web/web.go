// Package web holds what the HTTP packages below it share: Chain composes Middleware, Recorder
// records the outcome of a response, and a few functions classify requests. See accesslog,
// middleware, metrics and server. It must not import them, nor the GraphQL and REST packages.
package web

import "net/http"

// Middleware wraps a handler.
type Middleware = func(http.Handler) http.Handler

// Chain wraps a handler in middleware, the first of which is the outermost.
func Chain(handler http.Handler, middleware ...Middleware) http.Handler {
	for i := len(middleware) - 1; i >= 0; i-- {
		handler = middleware[i](handler)
	}
	return handler
}
