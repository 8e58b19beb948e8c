package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"portico/graph/document"
	"portico/graph/playground"
	"portico/internal/auth"
	"portico/internal/cli"
	"portico/internal/demo"
	"portico/internal/purgehook"
	"portico/internal/reqctx"
	"portico/internal/responsecache"
	"portico/internal/tracing"
	"portico/internal/web"
	"portico/internal/web/accesslog"
	"portico/internal/web/frontcache"
	"portico/internal/web/metrics"
	"portico/internal/web/middleware"
	"portico/internal/web/server"
	"portico/store/seal"
	"portico/store/shop"
)

// app is a running server.
type app struct {
	*Serve
	schema     string             // the text of schema.graphqls
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

// open opens the store and creates the services that the handlers use. logWriter is what log writes to; nil if
// it is written another way. schema is the text of schema.graphqls.
func (c *Serve) open(ctx context.Context, log *slog.Logger, logWriter *accesslog.LineWriter, schema string) (*app, error) {
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
	tokens, err := auth.New(ctx, s.Access, sealer, auth.Options{
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
	a := &app{Serve: c, schema: schema, trusted: trusted, store: s, tokens: tokens, metrics: metrics.New(auth.ClientID),
		responses: responsecache.NewCache(cli.ResponseCacheBytes(c.ResponseCacheBytes)), limiter: server.NewConcurrencyLimiter(c.Limits), log: log}
	held, err := s.Releases.HeldCatalogs(ctx)
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
	registerStore(a.metrics, log, s)
	a.metrics.SetMaxOperations(c.MetricsOperations)
	a.metrics.RegisterResponseCache(func() (hits, misses, bytes uint64) {
		stats := a.responses.Stats()
		return stats.Hits, stats.Misses, stats.Bytes
	})
	return a, nil
}

// openPurgeHook creates the purge hook, if --purge-url is set, and its metrics.
func (a *app) openPurgeHook() error {
	keys, err := a.PurgeKeys(a.log)
	if err != nil {
		return fmt.Errorf("--purge-secret-file: %w", err)
	}
	if keys == nil {
		a.metrics.RegisterPurges(a.log, nil, purgehook.Succeeded, purgehook.Failed)
		return nil
	}
	count := a.metrics.RegisterPurges(a.log, a.store.Purges.Pending, purgehook.Succeeded, purgehook.Failed)
	a.purgeHook = purgehook.New(a.store, a.store.Purges, purgehook.Config{URL: a.PurgeURL, Keys: keys, TagHeader: a.TagHeader(), Log: a.log, Count: count})
	return nil
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
