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

const (
	// reserveConns are there beyond the bound, so that health is answered
	// whatever comes.
	reserveConns = 32

	// reserveConnTime is how long one of them lives.
	reserveConnTime = 3 * time.Second
)

// limitListener is a listener that bounds connections, overall and by address. Where
// there are too many, the one that has waited longest for a request makes room.
// Where none waits, a connection is spare: it lives for reserveConnTime, Crowd
// answers little on it, and the oldest spare ones make room for new ones.
type limitListener struct {
	net.Listener
	maxConns, maxPerAddress int
	trusted                 []netip.Prefix // of proxies, who come for many

	closing     atomic.Bool
	acceptUntil time.Time // set before closing is

	mu      sync.Mutex
	count   int
	counts  map[string]int // by address
	unread  int            // connections of which nothing has been read yet
	active  int            // those with a request under way
	idle    *list.List     // of *gated that wait for a request, the longest first
	reserve *list.List     // of *gated, the oldest first
}

func newLimitListener(listener net.Listener, all, perAddress int, trusted []netip.Prefix) *limitListener {
	return &limitListener{Listener: listener, maxConns: all, maxPerAddress: perAddress, trusted: trusted,
		counts: map[string]int{}, idle: list.New(), reserve: list.New()}
}

// limitedConn is a connection that came through a gate.
type limitedConn struct {
	net.Conn
	listener *limitListener
	address  string    // what it counts for; empty for a trusted proxy
	deadline time.Time // of a spare one; else zero

	// Under the gate's mu.
	element  *list.Element // among the idle or the spare ones
	busy     bool          // a request is answered
	state    http.ConnState
	hasState bool // the server has told a state
	removed  bool
}

// Accept implements net.Listener.
func (g *limitListener) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil && g.closing.Load() {
			if time.Now().Before(g.acceptUntil) && hasPendingConn(g.Listener) && g.extendAcceptDeadline() {
				continue
			}
			_ = g.Listener.Close()
			return nil, net.ErrClosed
		}
		if err != nil {
			return nil, err
		}
		c, instead := g.admit(conn)
		if instead != nil {
			_ = instead.Close() // nobody waits for what is lost with it
		}
		if c != nil {
			return c, nil
		}
	}
}

// acceptGrace is how long a door that closes takes those in who stand before it:
// the system has shaken hands with them, and would cut them off.
// As long as somebody is there it calls again, up to maxAcceptGrace.
const (
	acceptGrace    = 50 * time.Millisecond
	maxAcceptGrace = time.Second
)

// stopAccepting has Accept take who waits, and then close the listener.
func (g *limitListener) stopAccepting() {
	g.acceptUntil = time.Now().Add(maxAcceptGrace)
	g.closing.Store(true)
	if !g.extendAcceptDeadline() {
		_ = g.Listener.Close()
	}
}

// extendAcceptDeadline has Accept take who comes for some time more.
func (g *limitListener) extendAcceptDeadline() bool {
	door, ok := g.Listener.(interface{ SetDeadline(time.Time) error })
	return ok && door.SetDeadline(time.Now().Add(acceptGrace)) == nil
}

// admit counts a connection; instead is the one that must go for it, which may
// be itself.
func (g *limitListener) admit(conn net.Conn) (c *limitedConn, instead net.Conn) {
	c = &limitedConn{Conn: conn, listener: g, address: g.addressKey(conn)}
	g.mu.Lock()
	defer g.mu.Unlock()
	crowdedBy := func(from string) bool { return from != "" && g.counts[from] >= g.maxPerAddress }
	if g.count >= g.maxConns || crowdedBy(c.address) {
		for at := g.idle.Front(); at != nil; at = at.Next() {
			if waits := at.Value.(*limitedConn); !crowdedBy(c.address) || waits.address == c.address {
				g.remove(waits)
				instead = waits.Conn
				break
			}
		}
	}
	if g.count < g.maxConns && !crowdedBy(c.address) {
		g.count++
		g.counts[c.address]++
		return c, instead
	}
	c.deadline = time.Now().Add(reserveConnTime)
	_ = conn.SetDeadline(c.deadline)
	if g.reserve.Len() >= reserveConns {
		for at := g.reserve.Front(); at != nil; at = at.Next() {
			if oldest := at.Value.(*limitedConn); !oldest.busy {
				g.remove(oldest)
				instead = oldest.Conn
				break
			}
		}
		if g.reserve.Len() >= reserveConns {
			return nil, conn
		}
	}
	c.element = g.reserve.PushBack(c)
	return c, instead
}

// addressKey is what a connection counts for.
func (g *limitListener) addressKey(conn net.Conn) string {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return ""
	}
	at := peer.Addr().Unmap().WithZone("")
	if web.ContainsAddress(g.trusted, at) {
		return ""
	}
	return reqctx.Network(at)
}

// remove takes a connection out of the count, once.
func (g *limitListener) remove(c *limitedConn) {
	if c.removed {
		return
	}
	c.removed = true
	g.removeIdle(c)
	if !c.deadline.IsZero() {
		g.reserve.Remove(c.element)
		return
	}
	g.count--
	if g.counts[c.address]--; g.counts[c.address] == 0 {
		delete(g.counts, c.address)
	}
}

// removeIdle takes a connection from those that wait.
func (g *limitListener) removeIdle(c *limitedConn) {
	if c.deadline.IsZero() && c.element != nil {
		g.idle.Remove(c.element)
		c.element = nil
	}
}

// connState follows what a server does with its connections.
func (g *limitListener) connState(conn net.Conn, state http.ConnState) {
	c := limitedConnOf(conn)
	if c == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.hasState {
		g.countState(c.state, -1)
	}
	c.state, c.hasState = state, true
	g.countState(state, 1)
	if g.removeIdle(c); state == http.StateIdle && c.deadline.IsZero() && !c.removed {
		c.element = g.idle.PushBack(c)
	}
}

func (g *limitListener) countState(state http.ConnState, change int) {
	switch state {
	case http.StateNew:
		g.unread += change
	case http.StateActive:
		g.active += change
	}
}

const (
	unreadTimeout     = 2 * time.Second      // how long a fresh connection is waited for
	drainPollInterval = 5 * time.Millisecond // how often
)

// awaitRequests waits until all have been answered who came through before the door was
// shut; a connection that asks nothing is not waited for long. From the moment
// of its Shutdown net/http drops what it reads, even whole requests.
func (g *limitListener) awaitRequests(ctx context.Context) {
	tick := time.NewTicker(drainPollInterval)
	defer tick.Stop()
	for began := time.Now(); ; {
		g.mu.Lock()
		fresh, active := g.unread, g.active
		g.mu.Unlock()
		if active == 0 && (fresh == 0 || time.Since(began) > unreadTimeout) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// limitedConnOf is the connection beneath TLS, if there is any.
func limitedConnOf(conn net.Conn) *limitedConn {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	c, _ := conn.(*limitedConn)
	return c
}

// Close implements net.Conn.
func (c *limitedConn) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets a server end an answer that the other side has not read.
func (c *limitedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// SetDeadline implements net.Conn; a spare connection's is never later than
// its end.
func (c *limitedConn) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.clampDeadline(t)) }

// SetReadDeadline implements net.Conn.
func (c *limitedConn) SetReadDeadline(t time.Time) error {
	return c.Conn.SetReadDeadline(c.clampDeadline(t))
}

// SetWriteDeadline implements net.Conn.
func (c *limitedConn) SetWriteDeadline(t time.Time) error {
	return c.Conn.SetWriteDeadline(c.clampDeadline(t))
}

func (c *limitedConn) clampDeadline(t time.Time) time.Time {
	if !c.deadline.IsZero() && (t.IsZero() || t.After(c.deadline)) {
		return c.deadline
	}
	return t
}

type connKey struct{}

// connContext notes a request's connection.
func (g *limitListener) connContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedConnOf(conn))
}

// markBusy has a spare connection stay while its request is answered, and close
// after it.
func (g *limitListener) markBusy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := reserveConn(r.Context())
		if c == nil {
			next.ServeHTTP(w, r)
			return
		}
		set := func(busy bool) {
			g.mu.Lock()
			defer g.mu.Unlock()
			c.busy = busy
		}
		set(true)
		defer set(false)
		w.Header().Set("Connection", "close")
		next.ServeHTTP(w, r)
	})
}

func reserveConn(ctx context.Context) *limitedConn {
	if c, _ := ctx.Value(connKey{}).(*limitedConn); c != nil && !c.deadline.IsZero() {
		return c
	}
	return nil
}

// RejectOverLimit answers UNAVAILABLE, by writeError, to whoever comes when there are
// too many connections, but where health is asked for.
func RejectOverLimit(writeError func(http.ResponseWriter, *http.Request, error)) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if reserveConn(r.Context()) == nil || r.URL.Path == web.HealthPath || r.URL.Path == web.ReadyPath {
				next.ServeHTTP(w, r)
				return
			}
			writeError(w, r, &store.Error{Code: store.Unavailable, Detail: "There are too many connections, overall or from this address; try again in a moment, over fewer."})
		})
	}
}
