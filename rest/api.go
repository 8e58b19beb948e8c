// Package rest serves the documented REST paths. Handlers parse a request, call
// the GraphQL resolvers of package graph and write the response: API has one for
// each of the routes. It must not use SQL or implement rules of its own.
package rest

import (
	"context"

	"portico/graph"
	"portico/internal/auth"
)

// API serves REST by calling the GraphQL resolvers.
type API struct {
	resolver   *graph.Resolver
	writeError auth.WriteError
	responses  graph.ResponseCache

	maxResponseBytes int                                                              // 0 means unlimited
	acquireExpensive func(ctx context.Context, inMemory bool) (end func(), err error) // nil for no limit
}

// Option configures an API.
type Option func(*API)

// LimitResponses limits responses to a number of bytes. A response of more than
// limits.LargeResponse bytes first calls acquireExpensive, which waits for a free slot. inMemory says that a part of the response
// is in memory already.
func LimitResponses(bytes int, acquireExpensive func(ctx context.Context, inMemory bool) (end func(), err error)) Option {
	return func(a *API) { a.maxResponseBytes, a.acquireExpensive = bytes, acquireExpensive }
}

// New returns an API that writes errors with writeError. Without WithResponseCache it caches nothing.
func New(resolver *graph.Resolver, writeError auth.WriteError, options ...Option) *API {
	a := &API{resolver: resolver, writeError: writeError}
	for _, option := range options {
		option(a)
	}
	return a
}
