package app

import (
	"context"
	"net"
	"runtime/debug"
	"sync"

	"github.com/alecthomas/kong"
	"golang.org/x/sync/errgroup"

	"portico/graph/limits"
	"portico/internal/cli"
	"portico/internal/demo"
	"portico/internal/web/middleware"
	"portico/internal/web/server"
)

// Serve is the command that runs the server.
type Serve struct {
	cli.Serve
	Documents limits.Config `embed:"" group:"graphql-limits"`
}

// Validate checks the flags further than their types.
func (c *Serve) Validate() error {
	if err := c.Documents.Validate(); err != nil {
		return &cli.UsageError{Reason: err.Error()}
	}
	return c.Serve.Validate()
}

// Run serves until ctx ends.
func (c *Serve) Run(ctx context.Context, streams cli.Streams, command *kong.Context, schema cli.SDL) error {
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
	a, err := c.open(ctx, log, logWriter, string(schema))
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
		workers.Go(func() { a.store.Jobs.Work(a.traces.Jobs(workerCtx)) })
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
	if catalogs, err := a.store.Releases.CatalogIDs(ctx); err == nil && len(catalogs) == 0 {
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
