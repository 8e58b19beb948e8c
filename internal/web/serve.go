package web

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// What a connection may take.
const (
	readHeaderTimeout = 10 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
)

// drainLimit is how long requests under way may take to end.
const drainLimit = 20 * time.Second

// ServeOption changes how a server ends.
type ServeOption func(*ending)

type ending struct{ linger, drain time.Duration }

// Linger keeps the server answering for some time after readiness has turned
// 503, so that a load balancer looks away before the door is shut. The default
// is 0.
func Linger(d time.Duration) ServeOption { return func(e *ending) { e.linger = d } }

// DrainWithin bounds how long requests under way may take to end; the default
// is 20 s.
func DrainWithin(d time.Duration) ServeOption { return func(e *ending) { e.drain = d } }

// Serve answers requests until ctx ends. Then readiness turns 503 and, after
// the time of Linger, the listener closes; requests under way may end, and are
// cut off when that takes too long. Their contexts outlive ctx, until they are
// cut off. The error is nil unless serving failed.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger, options ...ServeOption) error {
	end := ending{drain: drainLimit}
	for _, option := range options {
		option(&end)
	}
	draining := make(chan struct{})
	base, cut := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), drainingKey{}, draining))
	defer cut()
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	log.Info("shutting down", "address", listener.Addr().String(), "linger", end.linger.String(), "drain", end.drain.String())
	close(draining)
	time.Sleep(end.linger)
	drain, cancel := context.WithTimeout(base, end.drain)
	defer cancel()
	if err := server.Shutdown(drain); err != nil {
		log.Warn("requests were still under way and are cut off", "after", end.drain.String(), "error", err)
		cut()
		if err := server.Close(); err != nil {
			return fmt.Errorf("close %s: %w", listener.Addr(), err)
		}
	}
	<-served // http.ErrServerClosed
	return nil
}

type drainingKey struct{}

// Draining is closed once the server of a request shuts down, for answers
// that have no end of their own. It is nil outside of Serve.
func Draining(ctx context.Context) <-chan struct{} {
	draining, _ := ctx.Value(drainingKey{}).(chan struct{})
	return draining
}
