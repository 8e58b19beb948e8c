// Command portico serves a commerce service over GraphQL and REST, and holds
// the commands that fill it.
package main

import (
	"cmp"
	"context"
	"crypto/tls"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"portico/graph"
	"portico/graph/audience"
	"portico/graph/document"
	"portico/graph/executor"
	"portico/graph/limits"
	"portico/graph/opctx"
	"portico/graph/playground"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/internal/cli"
	"portico/internal/demo"
	"portico/internal/purgehook"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/internal/status"
	"portico/internal/tracing"
	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/internal/web/frontcache"
	"portico/internal/web/metrics"
	"portico/internal/web/middleware"
	"portico/internal/web/problem"
	"portico/internal/web/server"
	"portico/rest"
	"portico/store"
	"portico/store/seal"
	"portico/store/shop"
)

//go:embed schema.graphqls
var schema string

// commands is the grammar of the command line.
type commands struct {
	Serve   serve             `cmd:"" help:"Start the server."`
	Config  cli.Config[serve] `cmd:"" help:"Print the effective configuration of serve."`
	Import  cli.Import        `cmd:"" help:"Import resources from NDJSON files and publish the catalogs."`
	Export  cli.Export        `cmd:"" help:"Export all resources to an NDJSON file."`
	Publish cli.Publish       `cmd:"" help:"Publish catalogs."`
	Doctor  cli.Doctor        `cmd:"" help:"Check the database, and say what to do."`
	Audit   cli.Audit         `cmd:"" help:"List what each write did: the audit log."`
	Release cli.Release       `cmd:"" help:"List releases, serve one, and roll back."`
	Codes   cli.Codes         `cmd:"" help:"Generate and export promotion codes."`
	Client  cli.Client        `cmd:"" help:"Manage API clients."`
	Keys    cli.Keys          `cmd:"" help:"Manage the keys that sign tokens."`
	Rekey   cli.Rekey         `cmd:"" help:"Encrypt the secrets in the database with a new key."`
	Backup  cli.Backup        `cmd:"" help:"Copy a SQLite database to a file."`
	Copy    cli.Copy          `cmd:"" help:"Copy a database to another one, also between SQLite and PostgreSQL."`
	Restore cli.Restore       `cmd:"" help:"Create a SQLite database from a backup."`
	Migrate cli.Migrate       `cmd:"" help:"Migrate the database to the schema of this version."`
	Schema  cli.Schema        `cmd:"" help:"Print the GraphQL schema, or the JSON Schema of import files."`
	Health  cli.Health        `cmd:"" help:"Check the server on this machine."`
	cli.Builtin
}

func main() {
	cli.FitMemory()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process, except in serve, which shuts down faster
	os.Exit(run(ctx, os.Args[1:], cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ()}))
}

// run runs the command in args and returns the exit code.
func run(ctx context.Context, args []string, streams cli.Streams) (code int) {
	return cli.Main(ctx, &commands{}, args, streams, cli.SDL(schema))
}

// serve is the command that runs the server.
type serve struct {
	cli.Serve
	Documents limits.Config `embed:"" group:"graphql-limits"`
}

// Validate checks the flags further than their types.
func (c *serve) Validate() error {
	if err := c.Documents.Validate(); err != nil {
		return &cli.UsageError{Reason: err.Error()}
	}
	return c.Serve.Validate()
}

// Run serves until ctx ends.
func (c *serve) Run(ctx context.Context, streams cli.Streams, command *kong.Context) error {
	log, logWriter := c.Logs(streams)
	defer logWriter.Flush()
	listener, err := c.Listen("--addr", c.Addr, demo.ErrNotLocal)
	if err != nil {
		return err
	}
	defer listener.Close()
	var admin net.Listener
	if c.AdminAddr != "" {
		if admin, err = c.Listen("--admin-addr", c.AdminAddr, demo.ErrNotLocal); err != nil {
			return err
		}
		defer admin.Close()
	}
	if c.Demo {
		removeDemo, err := c.PrepareDemo(command)
		if err != nil {
			return err
		}
		defer removeDemo()
	}
	a, err := c.open(ctx, log, logWriter)
	if err != nil {
		return err
	}
	defer a.store.Close()
	defer a.traces.Close()
	address := "http://" + listener.Addr().String()
	if c.TLSCert != "" {
		certificate, err := server.LoadCertificate(c.TLSCert, c.TLSKey, log)
		if err != nil {
			return err
		}
		address, a.tls, a.certificate = "https://"+listener.Addr().String(), certificate.TLSConfig(), certificate
	}
	fastShutdown, stopSignals := cli.Signals(a.reload)
	defer stopSignals()
	a.fastShutdown = fastShutdown
	if c.Demo {
		if a.demoClient, err = demo.Open(ctx, a.store, a.tokens); err != nil {
			return err
		}
		if err := demo.PrintWelcome(streams.Out, address, a.demoClient); err != nil {
			return err
		}
	}
	a.store.IdleWithoutRequests() // handler counts them
	workerCtx, stop := context.WithCancel(ctx)
	var workers sync.WaitGroup
	for range c.JobWorkers {
		workers.Go(func() { a.store.Work(a.traces.Jobs(workerCtx)) })
	}
	workers.Go(func() { a.accessLog.Run(workerCtx) })
	if a.purgeHook != nil {
		workers.Go(func() { a.purgeHook.Run(workerCtx) })
	}
	defer func() { stop(); workers.Wait() }() // runs before the store closes
	ready := []any{"address", address, "database", a.store.Describe(), "version", cli.BuildVersion()}
	if admin != nil {
		ready = append(ready, "admin", "http://"+admin.Addr().String())
	}
	debug.FreeOSMemory() // memory that only startup needed
	log.Debug("limits", cli.Limits(command)...)
	log.Info("ready", ready...)
	if catalogs, err := a.store.CatalogIDs(ctx); err == nil && len(catalogs) == 0 {
		log.Info("the shop is empty: fill it with portico import FILE, by the same --database-url", "database", a.store.Describe())
	}
	return a.serveListeners(ctx, listener, admin)
}

// serveListeners serves until ctx ends or a listener fails. admin may be nil.
func (a *app) serveListeners(ctx context.Context, listener, admin net.Listener) error {
	proxies, _ := middleware.ParseProxies(a.TrustedProxies) // Validate parsed it
	publicOptions := []server.Option{server.WithLinger(a.Linger), server.WithFastShutdown(a.fastShutdown),
		server.WithLimits(a.Limits, proxies...), server.WithTLS(a.tls), server.WithFront(a.front.Middleware)}
	if admin == nil {
		return server.Serve(ctx, listener, a.handler(), a.log, publicOptions...)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		return server.Serve(ctx, admin, a.adminHandler(), a.log, server.WithLinger(a.Linger), server.WithFastShutdown(a.fastShutdown),
			server.WithLimits(a.Limits.Admin()))
	})
	group.Go(func() error { return server.Serve(ctx, listener, a.handler(), a.log, publicOptions...) })
	return group.Wait()
}

// open opens the store and creates the services that the handlers use. logWriter is what log writes to; nil if
// it is written another way.
func (c *serve) open(ctx context.Context, log *slog.Logger, logWriter *accesslog.LineWriter) (*app, error) {
	trusted, err := document.ReadManifestFile(c.TrustedDocuments, document.TrustMode(c.TrustedDocumentsMode), c.Documents.OrDefaults(),
		playground.Documents()...)
	if err != nil {
		return nil, fmt.Errorf("--trusted-documents: %w", err)
	}
	sealer, err := c.Sealer(ctx, c.DatabaseURL, log)
	if err != nil {
		return nil, err
	}
	retention := c.Retention()
	s, err := c.Open(ctx, log, func(config *shop.Config) {
		config.ReadURL = c.ReadDatabaseURL
		config.Sealer, config.StockBytes, config.Retention = sealer, c.StockCacheBytes, &retention
		config.JobQuota, config.MaxKeys, config.MaxKeyBytes = c.JobQuota(), c.KeysClient, c.KeysClientBytes
	})
	if err != nil {
		return nil, err
	}
	if err := s.TryWrite(ctx); err != nil {
		log.Warn("reads work, writes fail until this is mended", "database", s.Describe(), "reason", err)
	}
	tokens, err := auth.New(ctx, s, sealer, auth.Options{
		Issuer: c.TokenIssuer, Log: log, OIDC: c.ExternalIssuer(),
		Limit: middleware.NewRateLimit("token requests", int(c.TokenRateClient), int(c.TokenRateAddress)).Use,
	})
	if err != nil {
		s.Close()
		if errors.Is(err, seal.ErrKey) {
			return nil, cli.WrongKey(err)
		}
		return nil, fmt.Errorf("read the signing keys: %w", err)
	}
	if c.AnonymousClient != "" {
		if err := tokens.AnswerAnonymously(ctx, c.AnonymousClient); err != nil {
			s.Close()
			return nil, fmt.Errorf("--anonymous-client: %w", err)
		}
	}
	a := &app{serve: c, trusted: trusted, store: s, tokens: tokens, metrics: metrics.New(auth.ClientID),
		responses: responsecache.NewCache(cli.ResponseCacheBytes(c.ResponseCacheBytes)), limiter: server.NewConcurrencyLimiter(c.Limits), log: log}
	held, err := s.HeldCatalogs(ctx)
	if err != nil {
		s.Close()
		return nil, fmt.Errorf("look for held catalogs: %w", err)
	}
	for _, hold := range held {
		log.Warn("a roll-back holds a catalog; imports leave it at this release until it is published on purpose",
			"catalog", hold.CatalogID, "release", hold.ReleaseID, "rolled_back_from", hold.RolledBackFrom)
	}
	a.metrics.RegisterLimiter(a.limiter)
	if err := a.openPurgeHook(); err != nil {
		s.Close()
		return nil, err
	}
	backend, _, _ := strings.Cut(s.Describe(), " ")
	if a.traces, err = tracing.New(ctx, cli.BuildVersion(), backend, log); err != nil {
		s.Close()
		return nil, err
	}
	a.openFront(logWriter)
	a.metrics.RegisterBuild(cli.BuildVersion(), backend)
	a.metrics.RegisterStore(log, s)
	a.metrics.SetMaxOperations(c.MetricsOperations)
	a.metrics.RegisterResponseCache(func() (hits, misses, bytes uint64) {
		stats := a.responses.Stats()
		return stats.Hits, stats.Misses, stats.Bytes
	})
	return a, nil
}

// openPurgeHook creates the purge hook, if there is one, and its metrics.
func (a *app) openPurgeHook() error {
	keys, err := a.PurgeKeys(a.log)
	if err != nil {
		return fmt.Errorf("--purge-secret-file: %w", err)
	}
	if keys == nil {
		a.metrics.RegisterPurges(a.log, nil, purgehook.Succeeded, purgehook.Failed)
		return nil
	}
	count := a.metrics.RegisterPurges(a.log, a.store.PendingPurges, purgehook.Succeeded, purgehook.Failed)
	a.purgeHook = purgehook.New(a.store, purgehook.Config{URL: a.PurgeURL, Keys: keys, TagHeader: a.TagHeader(), Log: a.log, Count: count})
	return nil
}

// app is a running server.
type app struct {
	*serve
	trusted    *document.Manifest // nil without --trusted-documents
	store      *shop.Store
	tokens     *auth.Service
	metrics    *metrics.Metrics
	responses  *responsecache.Cache
	front      *frontcache.Cache
	accessLog  *accesslog.AccessLog
	slowLog    *accesslog.SlowLog
	limiter    *server.ConcurrencyLimiter
	purgeHook  *purgehook.Hook  // nil without --purge-url
	traces     *tracing.Tracing // nil if tracing is off
	log        *slog.Logger
	tls        *tls.Config  // nil for HTTP
	demoClient *demo.Client // nil except with --demo

	certificate  *server.Certificate // nil for HTTP
	fastShutdown <-chan struct{}     // closed by a second signal: shut down without waiting
}

// reload handles SIGHUP. It reloads the certificate. The server reloads changed keys by itself.
func (a *app) reload() {
	if a.certificate == nil {
		a.log.Info("SIGHUP: there is no certificate to reload; restart to apply changes of other files and flags")
		return
	}
	a.certificate.Reload()
	a.log.Info("SIGHUP: the next connection reloads the certificate; restart to apply changes of other files and flags")
}

// openFront creates the logs of requests, and the cache in front of the handler.
func (a *app) openFront(logWriter *accesslog.LineWriter) {
	a.accessLog = accesslog.New(a.log, accesslog.WithMode(a.AccessLog), accesslog.WithClient(auth.ClientID), accesslog.WithLineWriter(logWriter))
	a.slowLog = accesslog.NewSlowLog(a.log, a.Slow, auth.ClientID)
	a.front = frontcache.New(frontcache.Config{Responses: a.responses, BodyTime: a.Limits.BodyTime, OnRequest: a.store.CountRequest, CallerOf: a.tokens.CallerOf,
		OnAnswer: func(req *reqctx.Request, r *http.Request, rec *web.Recorder) {
			a.traces.Record(req, r) // before the logs, which have its id
			a.accessLog.Log(req, r, rec.Status, rec.Bytes)
			a.slowLog.Log(req, r, rec.Status, rec.Bytes)
			a.metrics.Count(req, r)
		}})
}

// handler returns the handler of the public listener: all routes, behind the middleware.
func (a *app) handler() http.Handler {
	codes := middleware.NewRateLimit("promotion code lookups", int(a.CodeRateClient), int(a.CodeRateAddress))
	resolver := graph.NewResolver(a.store, graph.WithTokens(a.tokens), graph.WithCodeLimit(codes.Use))
	policy := opctx.CachePolicy{Control: a.Control(), TagHeader: a.TagHeader(), Anonymous: a.AnonymousClient != ""}
	options := []transport.Option{transport.WithCachePolicy(policy), transport.CountFields(a.countField), transport.CountExecutors(a.metrics.CountExecutor),
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
		"/{$}": page, playground.Path + "/{part}": page, audience.Path: audience.New(document.Schema()).Handler(schema, writeError),
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

// countField counts a root field in the metrics.
func (a *app) countField(ctx context.Context, field string) {
	a.metrics.CountField(ctx, field)
}

// countOperation counts a GraphQL operation in the metrics.
func (a *app) countOperation(ctx context.Context, stats executor.OperationStats) {
	a.metrics.CountOperation(ctx, metrics.Operation(stats))
}

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
