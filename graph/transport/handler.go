// Package transport serves GraphQL over HTTP, server-sent events and WebSockets. NewHandler returns the
// handler, which Options configure; StreamConfig limits streams. The package must not import REST or the
// playground.
package transport

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/store"
)

// Option configures NewHandler.
type Option func(*handlerConfig)

type handlerConfig struct {
	executor.Config
	streams StreamConfig
}

// OpenIntrospection allows introspection without a token.
func OpenIntrospection() Option { return func(h *handlerConfig) { h.OpenIntrospection = true } }

// WithLimits replaces limits.Defaults.
func WithLimits(config limits.Config) Option { return func(h *handlerConfig) { h.Limits = config } }

// CountFields calls count, concurrently, with each root field that runs, such as Query.product.
func CountFields(count func(ctx context.Context, field string)) Option {
	return func(h *handlerConfig) { h.CountField = count }
}

// CountExecutors calls count for each query with what runs it: "plan" or "gqlgen". gqlgen's executor runs
// introspection, and queries whose plan stopped with a panic.
func CountExecutors(count func(by string)) Option {
	return func(h *handlerConfig) { h.CountExecutor = count }
}

// WithResponseCache caches responses that depend on a release alone.
func WithResponseCache(cache *responsecache.Cache) Option {
	return func(h *handlerConfig) { h.Responses.Cache = cache }
}

// WithCachePolicy sets the headers by which HTTP caches store responses.
func WithCachePolicy(policy opctx.CachePolicy) Option {
	return func(h *handlerConfig) { h.Responses.Policy = policy }
}

// WithDocumentCache replaces the document cache, whose default size is document.DefaultCacheBytes.
func WithDocumentCache(cache *document.Cache) Option {
	return func(h *handlerConfig) { h.Documents = cache }
}

// WithManifest sets the manifest of trusted documents.
func WithManifest(manifest *document.Manifest) Option {
	return func(h *handlerConfig) { h.Manifest = manifest }
}

// CountDocuments calls count with the document.Outcome* of each persisted or trusted document.
func CountDocuments(count func(outcome string)) Option {
	return func(h *handlerConfig) { h.CountDocument = count }
}

// WithConcurrencyLimiter limits mutations, expensive operations, and responses over streams.
func WithConcurrencyLimiter(limiter executor.ConcurrencyLimiter) Option {
	return func(h *handlerConfig) { h.Limiter = limiter }
}

// CountOperations calls ended, concurrently, for each operation that ends or is rejected, and begun for
// each subscription that begins.
func CountOperations(ended, begun func(ctx context.Context, stats executor.OperationStats)) Option {
	return func(h *handlerConfig) { h.CountOperation, h.CountSubscription = ended, begun }
}

// WithoutPlans makes gqlgen's executor run everything.
func WithoutPlans() Option { return func(h *handlerConfig) { h.DisablePlans = true } }

// WithStreams replaces DefaultStreamConfig.
func WithStreams(config StreamConfig) Option { return func(h *handlerConfig) { h.streams = config } }

// NewHandler serves GraphQL: POST with a JSON body, GET for queries, and subscriptions as server-sent
// events to either or over a WebSocket.
func NewHandler(r *graph.Resolver, log *slog.Logger, options ...Option) http.Handler {
	config := handlerConfig{
		Config:  executor.Config{Limits: limits.Defaults(), Documents: document.NewCache(document.DefaultCacheBytes)},
		streams: DefaultStreamConfig(),
	}
	for _, option := range options {
		option(&config)
	}
	config.streams.PerAddress = cmp.Or(config.streams.PerAddress, (config.streams.PerClient+9)/10) // a tenth, rounded up
	server := &handler{exec: executor.NewExecutor(r, log, config.Config)}
	server.streams = &streamServer{StreamConfig: config.streams, handler: server, resolver: r,
		connections: map[*connection]struct{}{}, operations: map[quotaKey]int{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.Header().Set("Allow", allowedMethods)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if err := checkRequest(r); err != nil {
			err.write(w)
			return
		}
		if err := opctx.CheckShopper(r.Context()); err != nil {
			WriteErrors(w, http.StatusUnprocessableEntity, store.AsErrors(err))
			return
		}
		r, known := reqctx.Begin(r)
		defer executor.ReleaseExpensiveSlot(r.Context())
		switch {
		case r.Method == http.MethodPost:
			server.post(w, r, known)
		case isWebSocketUpgrade(r):
			server.streams.websocket(w, r, known)
		default:
			server.get(w, r, known)
		}
	})
}
