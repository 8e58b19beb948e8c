package transport

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"portico/graph"
	"portico/graph/document"
	"portico/graph/generated"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/internal/responsecache"
)

// HandlerOption changes how GraphQL is served.
type HandlerOption func(*handling)

type handling struct {
	introspection
	count    func(ctx context.Context, field string)
	executed func(executor string)
	bounds   limits.Bounds
	room     *responsecache.Cache // of whole answers
	parts    *responsecache.Cache // of fragments
	unplan   bool
	trust    *document.Manifest
	named    func(outcome string)
	live     Live
	ran      func(ctx context.Context, ran Ran)
	began    func(ctx context.Context, of Ran)
	turns    ConcurrencyLimiter // nil for none
	cache    *document.Cache
}

// OpenIntrospection lets anyone ask for the schema by introspection, with a
// token or without.
func OpenIntrospection() HandlerOption { return func(h *handling) { h.open = true } }

// WithBounds bounds documents and their variables, in place of DefaultBounds.
func WithBounds(bounds limits.Bounds) HandlerOption { return func(h *handling) { h.bounds = bounds } }

// CountFields calls count for each root field that is asked for, such as
// Query.product, several times at once.
func CountFields(count func(ctx context.Context, field string)) HandlerOption {
	return func(h *handling) { h.count = count }
}

// CountExecutors calls executed for each query that is run, with what runs it:
// plan, or gqlgen for what plans leave to it: queries of the schema alone, and
// those that a resolver's panic stopped.
func CountExecutors(executed func(executor string)) HandlerOption {
	return func(h *handling) { h.executed = executed }
}

// WithResponseCache has answers about what is published be kept in a room, and the
// fragments they are put together from; without it each is made anew, and all
// else is the same.
func WithResponseCache(room *responsecache.Cache) HandlerOption {
	return func(h *handling) { h.room, h.parts = room, room }
}

// WithFragmentCache caches fragments of responses, and no whole responses.
func WithFragmentCache(cache *responsecache.Cache) HandlerOption {
	return func(h *handling) { h.parts = cache }
}

// WithDocumentCache replaces the cache of documents, whose default budget is document.DefaultCacheBytes.
func WithDocumentCache(cache *document.Cache) HandlerOption {
	return func(h *handling) { h.cache = cache }
}

// Trusting has the documents of a manifest be asked for by their ids, and does
// with others what it says.
func Trusting(manifest *document.Manifest) HandlerOption {
	return func(h *handling) { h.trust = manifest }
}

// CountDocuments calls named with what became of each document that was named
// by a hash or an id, or was held against a manifest: found, missing, sent,
// mismatched, trusted, untrusted or refused.
func CountDocuments(named func(outcome string)) HandlerOption {
	return func(h *handling) { h.named = named }
}

// ConcurrencyLimiter bound how much is worked on at once. Each refuses what would have to
// wait for too long; end gives a turn back.
type ConcurrencyLimiter interface {
	// SwitchToWrite has a request, which has a turn to read, wait for one to write.
	SwitchToWrite(w http.ResponseWriter, r *http.Request) error

	AcquireRead(ctx context.Context) (end func(), err error)
	AcquireWrite(ctx context.Context) (end func(), err error)

	// AcquireExpensive takes a turn among the few for operations that cost much or have a
	// large answer; running says that part of the answer is in memory already. A
	// request's ends with it, so that end does nothing.
	AcquireExpensive(ctx context.Context, running bool) (end func(), err error)
}

// InTurn has mutations, and what comes over streams, wait their turn.
func InTurn(turns ConcurrencyLimiter) HandlerOption { return func(h *handling) { h.turns = turns } }

// WithoutPlans has gqlgen's executor run everything.
func WithoutPlans() HandlerOption { return func(h *handling) { h.unplan = true } }

// NewHandler serves GraphQL over HTTP: POST with a JSON body, and GET for
// queries; subscriptions as events to either, or over a WebSocket. Introspection needs a good token, of whatever scopes.
func NewHandler(r *graph.Resolver, log *slog.Logger, options ...HandlerOption) http.Handler {
	chosen := handling{bounds: limits.DefaultBounds(), executed: func(string) {}, named: func(string) {}, live: DefaultLive(), cache: document.NewCache(document.DefaultCacheBytes)}
	for _, option := range options {
		option(&chosen)
	}
	chosen.live.Address = cmp.Or(chosen.live.Address, (chosen.live.Client+9)/10)
	config := generated.Config{Resolvers: r, Schema: document.Schema()}
	executable := generated.NewStreamingSchema(config, chosen.event)
	desk := &desk{handling: &chosen, names: newSchemaNames(executable.Schema()), documents: document.NewProcessor(document.Config{
		Schema: executable.Schema(), Bounds: chosen.bounds, Cache: chosen.cache, Manifest: chosen.trust, Count: chosen.named, Log: log,
	})}
	exec, present := executor.New(executable), presenter(log)
	exec.SetQueryCache(checkedDocuments{})
	exec.Use(chosen.introspection)
	exec.AroundFields(chargeField)
	exec.AroundRootFields(chosen.limitedFields)
	exec.AroundResponses(addReplays)
	exec.SetErrorPresenter(present)
	exec.SetRecoverFunc(recovered)
	desk.exec, desk.turns = exec, chosen.turns
	desk.live = &live{Live: chosen.live, desk: desk, handling: &chosen, resolver: r, lines: map[*line]struct{}{}, clients: map[share]int{}}
	if !chosen.unplan {
		desk.planned = &planned{desk: desk, handling: &chosen, resolver: r, runner: generated.NewPlanRunner(config),
			schema: executable.Schema(), present: present, room: chosen.room}
		desk.planned.runner.SetLimit(chosen.limit())
		if chosen.parts.Enabled() {
			desk.planned.runner.UseCache(fragments{chosen.parts, r})
		}
	}
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
		defer endExpensive(r.Context())
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

// aroundRootFields is what surrounds every root field, whichever executor runs
// it.
func (h *handling) aroundRootFields(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if h.count != nil {
		field := graphql.GetRootFieldContext(ctx).Field
		h.count(ctx, field.ObjectDefinition.Name+"."+field.Name)
	}
	if ctx.Err() != nil { // no field begins for a client that has gone
		return graphql.Null
	}
	if op := opctx.From(ctx); op != nil && op.Budget != nil {
		if err := op.Budget.Charge(0); err != nil { // spent: what is left costs nothing
			field := graphql.GetRootFieldContext(ctx).Field
			graphql.AddError(graphql.WithFieldContext(ctx, &graphql.FieldContext{Object: field.ObjectDefinition.Name, Field: field}), err)
			return graphql.Null
		}
	}
	return recordReplay(withSentNulls(ctx), next)
}

// countFields counts root fields that were answered without being run.
func (h *handling) countFields(ctx context.Context, coordinates []string) {
	if h.count == nil {
		return
	}
	for _, coordinate := range coordinates {
		h.count(ctx, coordinate)
	}
}

// countExecutor counts a query that gqlgen's executor runs, for a client that
// has not gone.
func (h *handling) countExecutor(ctx context.Context, operation *graphql.OperationContext) {
	if operation.Operation.Operation == ast.Query && ctx.Err() == nil {
		h.executed(byGqlgen)
	}
}

func recovered(_ context.Context, reason any) error {
	return fmt.Errorf("panic in a resolver: %v\n%s", reason, debug.Stack())
}
