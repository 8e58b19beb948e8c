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
	"portico/internal/responsecache"
)

// Option configures NewHandler.
type Option func(*handlerConfig)

type handlerConfig struct {
	executor.Config
	manifest      *document.Manifest
	countDocument func(outcome string)
	documents     *document.Cache
	live          StreamConfig
}

// OpenIntrospection lets anyone ask for the schema by introspection, with a
// token or without.
func OpenIntrospection() Option { return func(h *handlerConfig) { h.OpenIntrospection = true } }

// WithBounds bounds documents and their variables, in place of DefaultBounds.
func WithBounds(bounds limits.Bounds) Option { return func(h *handlerConfig) { h.Bounds = bounds } }

// CountFields calls count for each root field that is asked for, such as
// Query.product, several times at once.
func CountFields(count func(ctx context.Context, field string)) Option {
	return func(h *handlerConfig) { h.CountField = count }
}

// CountExecutors calls executed for each query that is run, with what runs it:
// plan, or gqlgen for what plans leave to it: queries of the schema alone, and
// those that a resolver's panic stopped.
func CountExecutors(executed func(executor string)) Option {
	return func(h *handlerConfig) { h.CountExecutor = executed }
}

// WithResponseCache has answers about what is published be kept in a room, and the
// fragments they are put together from; without it each is made anew, and all
// else is the same.
func WithResponseCache(room *responsecache.Cache) Option {
	return func(h *handlerConfig) { h.Responses, h.Fragments = room, room }
}

// WithFragmentCache caches fragments of responses, and no whole responses.
func WithFragmentCache(cache *responsecache.Cache) Option {
	return func(h *handlerConfig) { h.Fragments = cache }
}

// WithDocumentCache replaces the cache of documents, whose default budget is document.DefaultCacheBytes.
func WithDocumentCache(cache *document.Cache) Option {
	return func(h *handlerConfig) { h.documents = cache }
}

// WithManifest has the documents of a manifest be asked for by their ids, and does
// with others what it says.
func WithManifest(manifest *document.Manifest) Option {
	return func(h *handlerConfig) { h.manifest = manifest }
}

// CountDocuments calls named with what became of each document that was named
// by a hash or an id, or was held against a manifest: found, missing, sent,
// mismatched, trusted, untrusted or refused.
func CountDocuments(named func(outcome string)) Option {
	return func(h *handlerConfig) { h.countDocument = named }
}

// WithConcurrencyLimiter has mutations, and what comes over streams, wait their turn.
func WithConcurrencyLimiter(turns executor.ConcurrencyLimiter) Option {
	return func(h *handlerConfig) { h.Limiter = turns }
}

// CountOperations calls ran for each operation that ends or is refused, and
// begun for each subscription that begins, several times at once.
func CountOperations(ran func(ctx context.Context, ran executor.OperationStats), begun func(ctx context.Context, of executor.OperationStats)) Option {
	return func(h *handlerConfig) { h.CountOperation, h.CountSubscription = ran, begun }
}

// WithoutPlans has gqlgen's executor run everything.
func WithoutPlans() Option { return func(h *handlerConfig) { h.DisablePlans = true } }

// NewHandler serves GraphQL over HTTP: POST with a JSON body, and GET for
// queries; subscriptions as events to either, or over a WebSocket. Introspection needs a good token, of whatever scopes.
func NewHandler(r *graph.Resolver, log *slog.Logger, options ...Option) http.Handler {
	config := handlerConfig{
		Config: executor.Config{Bounds: limits.DefaultBounds()},
		live:   DefaultStreamConfig(), documents: document.NewCache(document.DefaultCacheBytes),
	}
	for _, option := range options {
		option(&config)
	}
	config.live.Address = cmp.Or(config.live.Address, (config.live.Client+9)/10)
	exec := executor.NewExecutor(r, log, config.Config, config.documents)
	desk := &Server{exec: exec, names: newSchemaNames(exec.Schema()), documents: document.NewProcessor(document.Config{
		Schema: exec.Schema(), Bounds: config.Bounds, Cache: config.documents, Manifest: config.manifest, Count: config.countDocument, Log: log,
	})}
	desk.live = &streamServer{StreamConfig: config.live, Server: desk, resolver: r, connections: map[*connection]struct{}{}, clients: map[quotaKey]int{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.Header().Set("Allow", allowedMethods)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if fault := checkRequest(r); fault != nil {
			fault.write(w)
			return
		}
		defer executor.ReleaseExpensive(r.Context())
		switch {
		case r.Method == http.MethodPost:
			desk.post(w, r)
		case isWebSocketUpgrade(r):
			desk.live.websocket(w, r)
		default:
			desk.get(w, r)
		}
	})
}
