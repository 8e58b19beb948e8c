// Package server runs the HTTP server: Serve accepts connections within Limits, applies time limits to requests
// and shuts down without losing any. http.Server.Shutdown alone drops requests that are being read (TestShutdownLosesNoRequests).
// ConcurrencyLimiter bounds the requests that run at once, and Certificate reloads TLS certificates. It must not import the
// GraphQL and REST packages.
package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"portico/internal/web"
)

const (
	maxHeaderBytes = 64 << 10
	maxStreams     = 100 // concurrent requests on an HTTP/2 connection, by default; RFC 9113 recommends at least 100
)

// drainTimeout is how long requests in progress may take to end on shutdown.
const drainTimeout = 20 * time.Second

// Option configures Serve.
type Option func(*config)

// config is what the options of Serve set.
type config struct {
	linger, drain time.Duration // drain is drainTimeout, except in tests
	limits        Limits
	trusted       []netip.Prefix
	tls           *tls.Config
	fastShutdown  <-chan struct{} // nil for never
	front         web.Middleware  // nil for none
}

// WithLimits sets the limits; addresses of trusted proxies are not limited per address. Without it only the
// number of connections is limited.
func WithLimits(l Limits, trusted ...netip.Prefix) Option {
	return func(c *config) { c.limits, c.trusted = l, trusted }
}

// WithTLS makes the server use TLS.
func WithTLS(tlsConfig *tls.Config) Option { return func(c *config) { c.tls = tlsConfig } }

// WithLinger sets the time to keep serving after the ready check returns 503 on shutdown, so that load
// balancers stop sending traffic first. The default is 0.
func WithLinger(d time.Duration) Option { return func(c *config) { c.linger = d } }

// WithFastShutdown ends the linger time and limits the drain to two seconds once the channel is closed.
func WithFastShutdown(fast <-chan struct{}) Option {
	return func(c *config) { c.fastShutdown = fast }
}

// WithFront sets the outermost middleware, which answers some requests without the deadlines of single requests. Only
// Limits.RequestTime and ResponseTime together, as the time of writes, limit it. So it is not used if a ResponseTime is set
// without a RequestTime: nothing would enforce it.
func WithFront(front web.Middleware) Option { return func(c *config) { c.front = front } }

// fastDrainTimeout replaces drainTimeout after WithFastShutdown.
const fastDrainTimeout = 2 * time.Second

// Serve serves requests until ctx ends. Then the ready check returns 503 and each response closes its
// connection, so that clients reconnect elsewhere. After the linger time the listener accepts the
// connections that are pending and closes. Requests in progress may end within the drain timeout and are
// canceled after that; their contexts outlive ctx until then. The error is nil unless serving failed.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger, options ...Option) error {
	cfg := config{drain: drainTimeout}
	for _, option := range options {
		option(&cfg)
	}
	total, perAddress := cfg.limits.connections(openFileLimit())
	limited := newLimitListener(listener, total, perAddress, cfg.trusted)
	listener = limited
	if cfg.tls != nil {
		listener = tls.NewListener(limited, cfg.tls)
	}
	draining := make(chan struct{}) // closed at shutdown
	base, cancelRequests := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), drainingKey{}, draining))
	defer cancelRequests()
	var upgraded sync.WaitGroup
	handler = enforceDeadlines(cfg.limits, closeOnDrain(draining, trackUpgrades(&upgraded, handler)))
	if cfg.front != nil && (cfg.limits.ResponseTime == 0 || cfg.limits.writeTime() > 0) {
		handler = cfg.front(handler)
	}
	server := &http.Server{
		Handler:           limited.serveReserve(handler),
		ReadHeaderTimeout: cfg.limits.HeaderTime,
		IdleTimeout:       cfg.limits.IdleTime,
		WriteTimeout:      cfg.limits.writeTime(),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: cmp.Or(cfg.limits.StreamsConnection, maxStreams)},
		ConnState:         limited.connState,
		ConnContext:       limited.connContext,
		MaxHeaderBytes:    cmp.Or(cfg.limits.HeaderBytes, maxHeaderBytes),
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext:       func(net.Listener) context.Context { return base },
	}
	go limited.sweepDeadlines(base)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
	}
	close(draining) // from here on the ready check fails
	log.Info("shutting down", "address", listener.Addr().String(), "linger", cfg.linger.String(), "drain", cfg.drain.String())
	select {
	case <-time.After(cfg.linger):
	case <-cfg.fastShutdown:
	}
	limited.stopAccepting()
	<-served // the listener is closed
	if err := cfg.drainRequests(base, limited, server, &upgraded); err != nil {
		log.Warn("canceling requests still in progress", "error", err)
		cancelRequests()
		if err := server.Close(); err != nil {
			return fmt.Errorf("close %s: %w", listener.Addr(), err)
		}
	}
	return nil
}

// drainRequests waits until the requests in progress have ended: for the drain timeout, or fastDrainTimeout after a
// fast shutdown. The error means that some have not.
func (c *config) drainRequests(base context.Context, limited *limitListener, server *http.Server, upgraded *sync.WaitGroup) error {
	drain, cancel := context.WithTimeout(base, c.drain)
	defer cancel()
	go cancelAfterFastDrain(drain, c.fastShutdown, cancel)
	limited.awaitRequests(drain) // first, since Shutdown drops requests that are being read
	if err := server.Shutdown(drain); err != nil {
		return err
	}
	return waitFor(drain, upgraded) // WebSockets, which Shutdown does not know
}

// cancelAfterFastDrain cancels the drain fastDrainTimeout after fast is closed.
func cancelAfterFastDrain(drain context.Context, fast <-chan struct{}, cancel func()) {
	select {
	case <-drain.Done():
		return
	case <-fast:
	}
	select {
	case <-drain.Done():
	case <-time.After(fastDrainTimeout):
		cancel()
	}
}

// closeOnDrain makes each response close its connection during shutdown: by Connection: close over HTTP/1.1,
// which net/http turns into GOAWAY over HTTP/2. Closing an idle connection could lose a request that is on its way.
//
// It does the same for requests with a chunked body. Such a request may also have a Content-Length, which
// net/http ignores; a proxy that relies on it would take the rest of the body for another request.
func closeOnDrain(draining <-chan struct{}, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isClosed(draining) || len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// trackUpgrades counts requests that ask for another protocol, which http.Server does not track after Hijack.
func trackUpgrades(upgraded *sync.WaitGroup, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header["Upgrade"] != nil {
			upgraded.Add(1)
			defer upgraded.Done()
		}
		next.ServeHTTP(w, r)
	})
}

// waitFor waits for the group, or for ctx to end.
func waitFor(ctx context.Context, group *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		group.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// drainingKey is the context key of the channel that Draining returns.
type drainingKey struct{}

// Draining returns a channel that is closed once the server of a request shuts down, for streams. It is
// nil outside of Serve.
func Draining(ctx context.Context) <-chan struct{} {
	draining, _ := ctx.Value(drainingKey{}).(chan struct{})
	return draining
}

// IsDraining reports whether the server of a request is shutting down.
func IsDraining(ctx context.Context) bool { return isClosed(Draining(ctx)) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
