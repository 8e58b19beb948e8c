package web

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
	"portico/store"
)

const (
	// spareConnections are there beyond the bound, so that health is answered
	// whatever comes.
	spareConnections = 32

	// spareTime is how long one of them lives.
	spareTime = 3 * time.Second
)

// gate is a listener that bounds connections, overall and by address. Where
// there are too many, the one that has waited longest for a request makes room.
// Where none waits, a connection is spare: it lives for spareTime, Crowd
// answers little on it, and the oldest spare ones make room for new ones.
type gate struct {
	net.Listener
	all, perAddress int
	trusted         []netip.Prefix // of proxies, who come for many

	closing atomic.Bool
	shutAt  time.Time // set before closing is

	mu     sync.Mutex
	count  int
	counts map[string]int // by address
	fresh  int            // connections of which nothing has been read yet
	active int            // those with a request under way
	idle   *list.List     // of *gated that wait for a request, the longest first
	spare  *list.List     // of *gated, the oldest first
}

func newGate(listener net.Listener, all, perAddress int, trusted []netip.Prefix) *gate {
	return &gate{Listener: listener, all: all, perAddress: perAddress, trusted: trusted,
		counts: map[string]int{}, idle: list.New(), spare: list.New()}
}

// gated is a connection that came through a gate.
type gated struct {
	net.Conn
	gate *gate
	from string    // what it counts for; empty for a trusted proxy
	ends time.Time // of a spare one; else zero

	// Under the gate's mu.
	place *list.Element // among the idle or the spare ones
	busy  bool          // a request is answered
	state http.ConnState
	known bool // the server has told a state
	gone  bool
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		conn, err := g.Listener.Accept()
		if err != nil && g.closing.Load() {
			if time.Now().Before(g.shutAt) && somebodyWaits(g.Listener) && g.callAgain() {
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

// lastCall is how long a door that closes takes those in who stand before it:
// the system has shaken hands with them, and would cut them off.
// As long as somebody is there it calls again, up to lastCalls.
const (
	lastCall  = 50 * time.Millisecond
	lastCalls = time.Second
)

// shut has Accept take who waits, and then close the listener.
func (g *gate) shut() {
	g.shutAt = time.Now().Add(lastCalls)
	g.closing.Store(true)
	if !g.callAgain() {
		_ = g.Listener.Close()
	}
}

// callAgain has Accept take who comes for some time more.
func (g *gate) callAgain() bool {
	door, ok := g.Listener.(interface{ SetDeadline(time.Time) error })
	return ok && door.SetDeadline(time.Now().Add(lastCall)) == nil
}

// admit counts a connection; instead is the one that must go for it, which may
// be itself.
func (g *gate) admit(conn net.Conn) (c *gated, instead net.Conn) {
	c = &gated{Conn: conn, gate: g, from: g.origin(conn)}
	g.mu.Lock()
	defer g.mu.Unlock()
	crowdedBy := func(from string) bool { return from != "" && g.counts[from] >= g.perAddress }
	if g.count >= g.all || crowdedBy(c.from) {
		for at := g.idle.Front(); at != nil; at = at.Next() {
			if waits := at.Value.(*gated); !crowdedBy(c.from) || waits.from == c.from {
				g.forget(waits)
				instead = waits.Conn
				break
			}
		}
	}
	if g.count < g.all && !crowdedBy(c.from) {
		g.count++
		g.counts[c.from]++
		return c, instead
	}
	c.ends = time.Now().Add(spareTime)
	_ = conn.SetDeadline(c.ends)
	if g.spare.Len() >= spareConnections {
		for at := g.spare.Front(); at != nil; at = at.Next() {
			if oldest := at.Value.(*gated); !oldest.busy {
				g.forget(oldest)
				instead = oldest.Conn
				break
			}
		}
		if g.spare.Len() >= spareConnections {
			return nil, conn
		}
	}
	c.place = g.spare.PushBack(c)
	return c, instead
}

// origin is what a connection counts for.
func (g *gate) origin(conn net.Conn) string {
	peer, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if err != nil {
		return ""
	}
	at := peer.Addr().Unmap().WithZone("")
	if within(g.trusted, at) {
		return ""
	}
	return reqctx.Network(at)
}

// forget takes a connection out of the count, once.
func (g *gate) forget(c *gated) {
	if c.gone {
		return
	}
	c.gone = true
	g.rest(c)
	if !c.ends.IsZero() {
		g.spare.Remove(c.place)
		return
	}
	g.count--
	if g.counts[c.from]--; g.counts[c.from] == 0 {
		delete(g.counts, c.from)
	}
}

// rest takes a connection from those that wait.
func (g *gate) rest(c *gated) {
	if c.ends.IsZero() && c.place != nil {
		g.idle.Remove(c.place)
		c.place = nil
	}
}

// state follows what a server does with its connections.
func (g *gate) state(conn net.Conn, state http.ConnState) {
	c := throughGate(conn)
	if c == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if c.known {
		g.tally(c.state, -1)
	}
	c.state, c.known = state, true
	g.tally(state, 1)
	if g.rest(c); state == http.StateIdle && c.ends.IsZero() && !c.gone {
		c.place = g.idle.PushBack(c)
	}
}

func (g *gate) tally(state http.ConnState, change int) {
	switch state {
	case http.StateNew:
		g.fresh += change
	case http.StateActive:
		g.active += change
	}
}

const (
	freshTime  = 2 * time.Second      // how long a fresh connection is waited for
	lookAround = 5 * time.Millisecond // how often
)

// quiet waits until all have been answered who came through before the door was
// shut; a connection that asks nothing is not waited for long. From the moment
// of its Shutdown net/http drops what it reads, even whole requests.
func (g *gate) quiet(ctx context.Context) {
	tick := time.NewTicker(lookAround)
	defer tick.Stop()
	for began := time.Now(); ; {
		g.mu.Lock()
		fresh, active := g.fresh, g.active
		g.mu.Unlock()
		if active == 0 && (fresh == 0 || time.Since(began) > freshTime) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// throughGate is the connection beneath TLS, if there is any.
func throughGate(conn net.Conn) *gated {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	c, _ := conn.(*gated)
	return c
}

// Close implements net.Conn.
func (c *gated) Close() error {
	c.gate.mu.Lock()
	c.gate.forget(c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets a server end an answer that the other side has not read.
func (c *gated) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// SetDeadline implements net.Conn; a spare connection's is never later than
// its end.
func (c *gated) SetDeadline(t time.Time) error { return c.Conn.SetDeadline(c.within(t)) }

// SetReadDeadline implements net.Conn.
func (c *gated) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.within(t)) }

// SetWriteDeadline implements net.Conn.
func (c *gated) SetWriteDeadline(t time.Time) error { return c.Conn.SetWriteDeadline(c.within(t)) }

func (c *gated) within(t time.Time) time.Time {
	if !c.ends.IsZero() && (t.IsZero() || t.After(c.ends)) {
		return c.ends
	}
	return t
}

type gatedKey struct{}

// connected notes a request's connection.
func (g *gate) connected(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, gatedKey{}, throughGate(conn))
}

// busy has a spare connection stay while its request is answered, and close
// after it.
func (g *gate) busy(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := isSpare(r.Context())
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

func isSpare(ctx context.Context) *gated {
	if c, _ := ctx.Value(gatedKey{}).(*gated); c != nil && !c.ends.IsZero() {
		return c
	}
	return nil
}

// Crowd answers UNAVAILABLE, by writeError, to whoever comes when there are
// too many connections, but where health is asked for.
func Crowd(writeError func(http.ResponseWriter, *http.Request, error)) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isSpare(r.Context()) == nil || r.URL.Path == HealthPath || r.URL.Path == ReadyPath {
				next.ServeHTTP(w, r)
				return
			}
			writeError(w, r, &store.Error{Code: store.Unavailable, Detail: "There are too many connections, overall or from this address; try again in a moment, over fewer."})
		})
	}
}
