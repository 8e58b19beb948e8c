package server

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/store"
)

// limitListener limits connections, in total and per address. At the limit it closes the connection that has
// been idle the longest. If none is idle, it accepts the new one as a reserve connection, which lives for
// reserveConnTime and on which RejectOverLimit answers health checks only. The oldest reserve connections
// make room for new ones.
//
// Without it, clients that open connections and send nothing take all open files of the process, so that health checks fail and
// it is restarted: 300 connections did (TestHealthChecksAtConnectionLimit, TestIdleConnectionFlood). netutil.LimitListener
// stops accepting at its limit, health checks too, and one address can take all of it.
type limitListener struct {
	net.Listener
	maxConns, maxPerAddress int            // without reserve connections
	trusted                 []netip.Prefix // proxies, which are not limited per address

	closing     atomic.Bool
	acceptUntil time.Time // when Accept ends at the latest; set before closing is

	begun time.Time    // when the listener was created
	swept atomic.Int64 // when sweep (conn_deadline.go) last set the sockets' deadlines, in nanoseconds after begun

	mu      sync.Mutex
	open    map[*limitedConn]struct{} // for sweep: until Close, so evicted ones too; without reserve connections
	count   int                       // open connections, as counts without reserve connections
	counts  map[string]int            // by limitedConn.address
	unread  int                       // connections that have sent nothing yet
	active  int                       // connections with a request in progress
	idle    *list.List                // of *limitedConn, the longest idle first
	reserve *list.List                // of *limitedConn, the oldest first
}

const (
	// reserveConns is the number of connections accepted above the limit, to answer health checks.
	reserveConns = 32

	// reserveConnTime is how long such a connection lives.
	reserveConnTime = 3 * time.Second
)

func newLimitListener(listener net.Listener, all, perAddress int, trusted []netip.Prefix) *limitListener {
	return &limitListener{Listener: listener, maxConns: all, maxPerAddress: perAddress, trusted: trusted,
		begun: time.Now(), open: map[*limitedConn]struct{}{}, counts: map[string]int{}, idle: list.New(), reserve: list.New()}
}

// limitedConn is a connection that a limitListener has accepted.
type limitedConn struct {
	net.Conn
	listener  *limitListener
	address   string    // that it counts for; empty for a trusted proxy
	deadline  time.Time // of a reserve connection; else zero
	deadlines connDeadlines
	held      *heldWrite // while JoinWrites holds a write; else nil

	// Guarded by listener.mu.
	element  *list.Element // of listener.idle or listener.reserve
	busy     bool          // of a reserve connection: a request is being answered
	state    http.ConnState
	hasState bool // connState has set state, whose zero value is StateNew
	removed  bool // it does not count any more
}

// Accept implements net.Listener. After stopAccepting it returns the connections that the kernel has established, then an error.
func (l *limitListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil && l.closing.Load() {
			if time.Now().Before(l.acceptUntil) && hasPendingConn(l.Listener) && l.extendAcceptDeadline() {
				continue
			}
			_ = l.Listener.Close()
			return nil, net.ErrClosed
		}
		if err != nil {
			return nil, err
		}
		c, evicted := l.admit(conn)
		if evicted != nil {
			_ = evicted.Close()
		}
		if c != nil {
			return c, nil
		}
	}
}

// On shutdown the listener waits acceptGrace for connections that the kernel has already established and
// would reset. It repeats that while it finds some, for up to maxAcceptGrace.
const (
	acceptGrace    = 50 * time.Millisecond
	maxAcceptGrace = time.Second
)

// stopAccepting makes Accept return the connections that are pending, and then close the listener.
func (l *limitListener) stopAccepting() {
	l.acceptUntil = time.Now().Add(maxAcceptGrace)
	l.closing.Store(true)
	if !l.extendAcceptDeadline() {
		_ = l.Listener.Close()
	}
}

// extendAcceptDeadline lets Accept wait for acceptGrace more.
func (l *limitListener) extendAcceptDeadline() bool {
	listener, ok := l.Listener.(interface{ SetDeadline(time.Time) error })
	return ok && listener.SetDeadline(time.Now().Add(acceptGrace)) == nil
}

// admit counts a connection. evicted is a connection to close in its place, which may be conn itself: then c is nil.
//
// At a limit it evicts the connection that has been idle the longest; at the limit per address, the one of that address. If
// that makes no room, the connection becomes a reserve connection. Of too many of those it evicts the oldest that is not busy,
// else the new one.
func (l *limitListener) admit(conn net.Conn) (c *limitedConn, evicted net.Conn) {
	c = &limitedConn{Conn: conn, listener: l, address: l.addressKey(conn)}
	l.mu.Lock()
	defer l.mu.Unlock()
	full := func(address string) bool { return address != "" && l.counts[address] >= l.maxPerAddress }
	if l.count >= l.maxConns || full(c.address) {
		for at := l.idle.Front(); at != nil; at = at.Next() {
			if idle := at.Value.(*limitedConn); !full(c.address) || idle.address == c.address {
				l.remove(idle)
				evicted = idle.Conn
				break
			}
		}
	}
	if l.count < l.maxConns && !full(c.address) {
		l.count++
		l.counts[c.address]++
		l.open[c] = struct{}{}
		return c, evicted
	}
	c.deadline = time.Now().Add(reserveConnTime)
	_ = conn.SetDeadline(c.deadline)
	if l.reserve.Len() >= reserveConns {
		for at := l.reserve.Front(); at != nil; at = at.Next() {
			if oldest := at.Value.(*limitedConn); !oldest.busy {
				l.remove(oldest)
				evicted = oldest.Conn
				break
			}
		}
		if l.reserve.Len() >= reserveConns {
			return nil, conn
		}
	}
	c.element = l.reserve.PushBack(c)
	return c, evicted
}

// addressKey returns the network that a connection counts for; empty for a trusted proxy.
func (l *limitListener) addressKey(conn net.Conn) string {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return ""
	}
	at := peer.Addr().Unmap().WithZone("")
	if web.ContainsAddress(l.trusted, at) {
		return ""
	}
	return reqctx.Network(at)
}

// remove stops counting a connection, and takes it off the lists. It may be called again. The caller holds mu.
func (l *limitListener) remove(c *limitedConn) {
	if c.removed {
		return
	}
	c.removed = true
	l.removeIdle(c)
	if !c.deadline.IsZero() {
		l.reserve.Remove(c.element)
		return
	}
	l.count--
	l.counts[c.address]--
	if l.counts[c.address] == 0 {
		delete(l.counts, c.address)
	}
}

// removeIdle removes a connection from the idle list, if it is there. The caller holds mu.
func (l *limitListener) removeIdle(c *limitedConn) {
	if c.deadline.IsZero() && c.element != nil {
		l.idle.Remove(c.element)
		c.element = nil
	}
}

// connState implements http.Server.ConnState. It counts the connections by state, and keeps the list of the idle ones.
func (l *limitListener) connState(conn net.Conn, state http.ConnState) {
	c := limitedConnOf(conn)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.hasState {
		l.countState(c.state, -1)
	}
	c.state, c.hasState = state, true
	l.countState(state, 1)
	l.removeIdle(c)
	if state == http.StateIdle && c.deadline.IsZero() && !c.removed {
		c.element = l.idle.PushBack(c)
	}
}

// countState adds change to the number of connections in a state, for awaitRequests.
func (l *limitListener) countState(state http.ConnState, change int) {
	switch state {
	case http.StateNew:
		l.unread += change
	case http.StateActive:
		l.active += change
	}
}

const (
	unreadTimeout     = 2 * time.Second
	drainPollInterval = 5 * time.Millisecond
)

// awaitRequests waits until the requests of all accepted connections are answered; for connections that
// send nothing, it waits at most unreadTimeout. It must run before http.Server.Shutdown, which drops requests
// that are being read.
func (l *limitListener) awaitRequests(ctx context.Context) {
	tick := time.NewTicker(drainPollInterval)
	defer tick.Stop()
	for start := time.Now(); ; {
		l.mu.Lock()
		unread, active := l.unread, l.active
		l.mu.Unlock()
		if active == 0 && (unread == 0 || time.Since(start) > unreadTimeout) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// limitedConnOf returns the connection below TLS; nil if it did not come from a limitListener.
func limitedConnOf(conn net.Conn) *limitedConn {
	if tlsConn, ok := conn.(*tls.Conn); ok {
		conn = tlsConn.NetConn()
	}
	c, _ := conn.(*limitedConn)
	return c
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets the server end a response that the client has not read.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// connKey is the context key of the *limitedConn of a request.
type connKey struct{}

// connContext implements http.Server.ConnContext.
func (l *limitListener) connContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedConnOf(conn))
}

// serveReserve marks a reserve connection as busy while its request is answered, so that admit does not evict it, and closes it
// after that. Other connections pass.
func (l *limitListener) serveReserve(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := reserveConn(r.Context())
		if c == nil {
			next.ServeHTTP(w, r)
			return
		}
		set := func(busy bool) {
			l.mu.Lock()
			defer l.mu.Unlock()
			c.busy = busy
		}
		set(true)
		defer set(false)
		w.Header().Set("Connection", "close")
		next.ServeHTTP(w, r)
	})
}

// reserveConn returns the reserve connection of a request; nil if it has another.
func reserveConn(ctx context.Context) *limitedConn {
	if c, _ := ctx.Value(connKey{}).(*limitedConn); c != nil && !c.deadline.IsZero() {
		return c
	}
	return nil
}

// RejectOverLimit writes UNAVAILABLE to requests on reserve connections, except to health checks.
func RejectOverLimit(writeError func(http.ResponseWriter, *http.Request, error)) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if reserveConn(r.Context()) == nil || web.IsHealthCheck(r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			writeError(w, r, &store.Error{Code: store.Unavailable, Detail: "Too many open connections, in total or from this address. Retry after the time in Retry-After, over fewer connections."})
		})
	}
}
