package app

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"portico/graph"
	"portico/graph/audience"
	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/opctx"
	"portico/graph/playground"
	"portico/graph/transport"
	"portico/internal/status"
	"portico/internal/web"
	"portico/internal/web/metrics"
	"portico/internal/web/middleware"
	"portico/internal/web/problem"
	"portico/internal/web/server"
	"portico/rest"
	"portico/store"
)

// handler returns the handler of the public listener: all routes, behind the middleware.
func (a *app) handler() http.Handler {
	codes := middleware.NewRateLimit("promotion code lookups", int(a.CodeRateClient), int(a.CodeRateAddress))
	resolver := graph.NewResolver(a.store, graph.WithTokens(a.tokens), graph.WithCodeLimit(codes.Use))
	policy := opctx.CachePolicy{Control: a.Control(), TagHeader: a.TagHeader(), Anonymous: a.AnonymousClient != ""}
	options := []transport.Option{transport.WithCachePolicy(policy), transport.CountFields(a.metrics.CountField), transport.CountExecutors(a.metrics.CountExecutor),
		transport.WithLimits(a.Documents.OrDefaults()), transport.WithResponseCache(a.responses),
		transport.WithManifest(a.trusted), transport.CountDocuments(a.metrics.CountDocument),
		transport.CountOperations(a.countOperation, a.countSubscription), transport.WithStreams(a.streamConfig()),
		transport.WithConcurrencyLimiter(a.limiter)}
	if a.Executor == "gqlgen" {
		options = append(options, transport.WithoutPlans())
	}
	if a.Demo {
		options = append(options, transport.OpenIntrospection())
	}
	var playgroundOptions []playground.Option
	if a.demoClient != nil {
		playgroundOptions = append(playgroundOptions, playground.WithVisitor(a.demoClient.Token, a.demoClient.ClientID))
	}
	proxies, _ := middleware.ParseProxies(a.TrustedProxies) // Validate parsed it
	writeError := problem.Writer(a.log)
	api := rest.New(resolver, writeError, rest.WithResponseCache(a.responses), rest.WithCachePolicy(policy),
		rest.LimitResponses(a.Documents.OrDefaults().ResponseBytes, a.limiter.AcquireExpensive))
	page, graphiql := playground.NewHandler(writeError, playgroundOptions...), playground.NewGraphiQL(writeError, playgroundOptions...)
	docs := rest.Docs(writeError, playgroundOptions...)
	mux := http.NewServeMux()
	mux.Handle("/", api.Handler())
	mux.Handle("/graphql", transport.NewHandler(resolver, a.log, options...))
	mux.Handle("/oauth/access_token", a.tokens.TokenHandler(writeError))
	mux.Handle("/.well-known/jwks.json", a.tokens.JWKSHandler(writeError))
	middleware.HandlePages(mux, map[string]http.Handler{
		"/{$}": page, playground.Path + "/{part}": page, audience.Path: audience.New(document.Schema()).Handler(a.schema, writeError),
		playground.GraphiQLPath: graphiql, playground.GraphiQLPath + "/{part}": graphiql,
		rest.OpenAPIPath: rest.OpenAPI(), rest.DocsPath: docs, rest.DocsPath + "/": docs,
		web.HealthPath: middleware.Health(), web.ReadyPath: middleware.Ready(a.store.Ping, a.store.WriteTrouble),
	}, writeError)
	routes := middleware.NormalizePath(writeError, opctx.TextHeaders()...)(middleware.RecordRoute(mux))
	return web.Chain(routes,
		middleware.NoSniff,
		middleware.OnRequest(a.store.CountRequest), // polls and background jobs depend on whether there are requests
		middleware.RequestID,
		a.slowLog.Middleware,
		a.traces.Middleware,
		middleware.ClientAddress(proxies),
		middleware.Recover(a.log, writeError),
		a.tokens.Middleware,
		a.accessLog.Middleware,
		a.metrics.Middleware,
		middleware.CORS(a.CORSOrigins, a.log),
		middleware.Compress,
		server.RejectOverLimit(writeError),
		middleware.LimitBody(a.BodyBytes),
		a.limiter.Middleware(writeError),
		middleware.AwaitConsistency(a.store.Await, writeError),
		opctx.Middleware,
	)
}

// countOperation counts a GraphQL operation in the metrics.
func (a *app) countOperation(ctx context.Context, stats executor.OperationStats) {
	a.metrics.CountOperation(ctx, metrics.Operation(stats))
}

// countSubscription counts a GraphQL subscription that begins.
func (a *app) countSubscription(ctx context.Context, stats executor.OperationStats) {
	a.metrics.CountSubscription(ctx, metrics.Operation(stats))
}

// streamConfig returns the limits and callbacks of subscriptions.
func (a *app) streamConfig() transport.StreamConfig {
	config := transport.DefaultStreamConfig()
	config.MaxMessage = cmp.Or(a.MessageBytes, config.MaxMessage)
	config.PerConnection, config.PerClient, config.PerAddress, config.WriteTimeout = a.SubscriptionsConnection, a.SubscriptionsClient,
		a.SubscriptionsAddress, a.ResponseTime
	config.AllowOrigin, config.Draining, config.CountSubscriptions, config.OnOperation = middleware.OriginAllowed(a.CORSOrigins), server.Draining,
		a.metrics.AddSubscriptions, a.store.CountRequest
	return config
}

// adminHandler returns the handler of the admin listener: metrics, status, health and profiles.
func (a *app) adminHandler() http.Handler {
	mux, writeError := http.NewServeMux(), problem.Writer(a.log)
	middleware.HandlePages(mux, map[string]http.Handler{
		metrics.Path: a.metrics.Handler(), status.Path: status.Page(a.metrics.Gather, time.Now), web.HealthPath: middleware.Health(), web.ReadyPath: middleware.Ready(a.store.Ping, a.store.WriteTrouble),
	}, writeError)
	middleware.HandleProfiles(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, r, &store.Error{Code: store.NotFound,
			Detail: "Unknown path. The admin listener serves " + metrics.Path + ", " + status.Path + ", " + web.HealthPath + ", " + web.ReadyPath +
				" and /debug/pprof/."})
	})
	return web.Chain(mux, middleware.NoSniff, server.RejectOverLimit(writeError), middleware.NormalizePath(writeError))
}
