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

// HandlerOption configures NewHandler.
type HandlerOption func(*config)

type config struct {
	executor.Config
	manifest      *document.Manifest
	countDocument func(outcome string)
	documents     *document.Cache
	live          Live
}

// OpenIntrospection lets anyone ask for the schema by introspection, with a
// token or without.
func OpenIntrospection() HandlerOption { return func(h *config) { h.OpenIntrospection = true } }

// WithBounds bounds documents and their variables, in place of DefaultBounds.
func WithBounds(bounds limits.Bounds) HandlerOption { return func(h *config) { h.Bounds = bounds } }

// CountFields calls count for each root field that is asked for, such as
// Query.product, several times at once.
func CountFields(count func(ctx context.Context, field string)) HandlerOption {
	return func(h *config) { h.CountField = count }
}

// CountExecutors calls executed for each query that is run, with what runs it:
// plan, or gqlgen for what plans leave to it: queries of the schema alone, and
// those that a resolver's panic stopped.
func CountExecutors(executed func(executor string)) HandlerOption {
	return func(h *config) { h.CountExecutor = executed }
}

// WithResponseCache has answers about what is published be kept in a room, and the
// fragments they are put together from; without it each is made anew, and all
// else is the same.
func WithResponseCache(room *responsecache.Cache) HandlerOption {
	return func(h *config) { h.Responses, h.Fragments = room, room }
}

// WithFragmentCache caches fragments of responses, and no whole responses.
func WithFragmentCache(cache *responsecache.Cache) HandlerOption {
	return func(h *config) { h.Fragments = cache }
}

// WithDocumentCache replaces the cache of documents, whose default budget is document.DefaultCacheBytes.
func WithDocumentCache(cache *document.Cache) HandlerOption {
	return func(h *config) { h.documents = cache }
}

// Trusting has the documents of a manifest be asked for by their ids, and does
// with others what it says.
func Trusting(manifest *document.Manifest) HandlerOption {
	return func(h *config) { h.manifest = manifest }
}

// CountDocuments calls named with what became of each document that was named
// by a hash or an id, or was held against a manifest: found, missing, sent,
// mismatched, trusted, untrusted or refused.
func CountDocuments(named func(outcome string)) HandlerOption {
	return func(h *config) { h.countDocument = named }
}

// InTurn has mutations, and what comes over streams, wait their turn.
func InTurn(turns executor.ConcurrencyLimiter) HandlerOption {
	return func(h *config) { h.Limiter = turns }
}

// CountOperations calls ran for each operation that ends or is refused, and
// begun for each subscription that begins, several times at once.
func CountOperations(ran func(ctx context.Context, ran executor.OperationStats), begun func(ctx context.Context, of executor.OperationStats)) HandlerOption {
	return func(h *config) { h.CountOperation, h.CountSubscription = ran, begun }
}

// WithoutPlans has gqlgen's executor run everything.
func WithoutPlans() HandlerOption { return func(h *config) { h.DisablePlans = true } }

// NewHandler serves GraphQL over HTTP: POST with a JSON body, and GET for
// queries; subscriptions as events to either, or over a WebSocket. Introspection needs a good token, of whatever scopes.
func NewHandler(r *graph.Resolver, log *slog.Logger, options ...HandlerOption) http.Handler {
	config := config{
		Config: executor.Config{Bounds: limits.DefaultBounds()},
		live:   DefaultLive(), documents: document.NewCache(document.DefaultCacheBytes),
	}
	for _, option := range options {
		option(&config)
	}
	config.live.Address = cmp.Or(config.live.Address, (config.live.Client+9)/10)
	exec := executor.NewExecutor(r, log, config.Config, config.documents)
	desk := &desk{exec: exec, names: newSchemaNames(exec.Schema()), documents: document.NewProcessor(document.Config{
		Schema: exec.Schema(), Bounds: config.Bounds, Cache: config.documents, Manifest: config.manifest, Count: config.countDocument, Log: log,
	})}
	desk.live = &live{Live: config.live, desk: desk, resolver: r, lines: map[*line]struct{}{}, clients: map[share]int{}}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.Header().Set("Allow", allowed)
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if fault := refuse(r); fault != nil {
			fault.write(w)
			return
		}
		defer executor.ReleaseExpensive(r.Context())
		switch {
		case r.Method == http.MethodPost:
			desk.post(w, r)
		case opensSocket(r):
			desk.live.socket(w, r)
		default:
			desk.get(w, r)
		}
	})
}
