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
)

const (
	maxHeaderBytes = 64 << 10
	maxStreams     = 100 // requests at once on a connection of HTTP/2, the least that its standard recommends
)

// drainTimeout is how long requests under way may take to end.
const drainTimeout = 20 * time.Second

// Option changes how a server serves and ends.
type Option func(*config)

type config struct {
	linger, drain time.Duration
	limits        Limits
	trusted       []netip.Prefix
	tls           *tls.Config
	fastShutdown  <-chan struct{} // nil for never
}

// WithLimits holds bounds; the addresses of proxies that are trusted have no share
// of their own. Without it there are no bounds but that on connections.
func WithLimits(b Limits, trusted ...netip.Prefix) Option {
	return func(s *config) { s.limits, s.trusted = b, trusted }
}

// WithTLS has the server speak TLS.
func WithTLS(tlsConfig *tls.Config) Option { return func(s *config) { s.tls = tlsConfig } }

// WithLinger keeps the server answering for some time after readiness has turned
// 503, so that a load balancer looks away before the door is shut, and every
// connection in use is told to end. The default is 0.
func WithLinger(d time.Duration) Option { return func(s *config) { s.linger = d } }

// WithDrainTimeout bounds how long requests under way may take to end; the default
// is 20 s.
func WithDrainTimeout(d time.Duration) Option { return func(s *config) { s.drain = d } }

// WithFastShutdown ends the time of Linger, and gives the requests under way two seconds,
// once hurry is closed.
func WithFastShutdown(hurry <-chan struct{}) Option {
	return func(s *config) { s.fastShutdown = hurry }
}

// fastDrainTimeout is how long requests under way may take to end in a hurry.
const fastDrainTimeout = 2 * time.Second

// Serve answers requests until ctx ends. Then readiness turns 503, and every
// answer tells its connection to end: whoever asks again does so on a new one,
// and a load balancer elsewhere. After the time of Linger the listener takes
// who waits at the door, and closes; requests under way may end, and are cut
// off when that takes too long. Their contexts outlive ctx, until they are cut
// off. The error is nil unless serving failed.
func Serve(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger, options ...Option) error {
	chosen := config{drain: drainTimeout}
	for _, option := range options {
		option(&chosen)
	}
	all, perAddress := chosen.limits.connections(openFileLimit())
	gate := newLimitListener(listener, all, perAddress, chosen.trusted)
	listener = gate
	if chosen.tls != nil {
		listener = tls.NewListener(gate, chosen.tls)
	}
	draining := make(chan struct{})
	base, cut := context.WithCancel(context.WithValue(context.WithoutCancel(ctx), drainingKey{}, draining))
	defer cut()
	var upgraded sync.WaitGroup
	server := &http.Server{
		Handler:           gate.markBusy(enforceDeadlines(chosen.limits, closeOnDrain(draining, trackUpgrades(&upgraded, handler)))),
		ReadHeaderTimeout: chosen.limits.HeaderTime,
		IdleTimeout:       chosen.limits.IdleTime,
		WriteTimeout:      chosen.limits.writeTime(),
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: cmp.Or(chosen.limits.StreamsConnection, maxStreams)},
		ConnState:         gate.connState,
		ConnContext:       gate.connContext,
		MaxHeaderBytes:    cmp.Or(chosen.limits.HeaderBytes, maxHeaderBytes),
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
	close(draining)
	log.Info("shutting down", "address", listener.Addr().String(), "linger", chosen.linger.String(), "drain", chosen.drain.String())
	select {
	case <-time.After(chosen.linger):
	case <-chosen.fastShutdown:
	}
	gate.stopAccepting()
	<-served // the listener is closed, with nobody before it
	drain, cancel := context.WithTimeout(base, chosen.drain)
	defer cancel()
	go cancelAfterFastDrain(drain, chosen.fastShutdown, cancel)
	gate.awaitRequests(drain)
	err := server.Shutdown(drain)
	if err == nil {
		err = waitFor(drain, &upgraded)
	}
	if err != nil {
		log.Warn("requests were still under way and are cut off", "error", err)
		cut()
		if err := server.Close(); err != nil {
			return fmt.Errorf("close %s: %w", listener.Addr(), err)
		}
	}
	return nil
}

// cancelAfterFastDrain ends what drains soon after it must hurry.
func cancelAfterFastDrain(drain context.Context, hurry <-chan struct{}, end func()) {
	select {
	case <-drain.Done():
		return
	case <-hurry:
	}
	select {
	case <-drain.Done():
	case <-time.After(fastDrainTimeout):
		end()
	}
}

// closeOnDrain has each answer end its connection once the server shuts down: by
// Connection: close over HTTP/1.1, by GOAWAY over HTTP/2, which net/http makes
// of it. No request is lost as one could be on an idle connection that closes
// while the request comes.
//
// So does the answer to a request in chunks. One may have said a length too,
// which net/http passes over: a proxy that goes by the length would have the
// rest of it be somebody else's next request.
func closeOnDrain(draining <-chan struct{}, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isClosed(draining) || len(r.TransferEncoding) > 0 {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// trackUpgrades counts the requests that ask for another protocol: what comes of
// them is out of the server's sight.
func trackUpgrades(upgraded *sync.WaitGroup, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header["Upgrade"] != nil {
			upgraded.Add(1)
			defer upgraded.Done()
		}
		next.ServeHTTP(w, r)
	})
}

// waitFor waits until all are done, or ctx ends.
func waitFor(ctx context.Context, all *sync.WaitGroup) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		all.Wait()
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type drainingKey struct{}

// Draining is closed once the server of a request shuts down, for answers
// that have no end of their own. It is nil outside of Serve.
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
