package dbtest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Proxy is a TCP proxy between a store and PostgreSQL that simulates a faulty network.
type Proxy struct {
	target   func() (net.Conn, error)
	listener net.Listener
	dropping atomic.Bool
	refusing atomic.Bool
	delay    atomic.Int64 // of each chunk, in nanoseconds

	mu    sync.Mutex
	conns map[net.Conn]bool
	pause *pausePoint // nil for none
}

// pausePoint is where traffic pauses once.
type pausePoint struct {
	text            []byte
	reached, resume chan struct{}
}

// NewProxy starts a proxy in front of the test's database and returns the address to open. It
// skips the test on SQLite.
func (backend Backend) NewProxy(t *testing.T) (proxy *Proxy, address string) {
	t.Helper()
	backend.PostgresOnly(t)
	behind, err := url.Parse(backend.URL(t))
	require.NoError(t, err)
	network, host := "tcp", behind.Host
	if directory := behind.Query().Get("host"); directory != "" {
		network, host = "unix", directory+"/.s.PGSQL."+portOf(behind)
	}
	proxy = newProxy(t, network, host)
	query := behind.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	behind.Host, behind.RawQuery = proxy.listener.Addr().String(), query.Encode()
	return proxy, behind.String()
}

// newProxy starts a proxy in front of an address.
func newProxy(t testing.TB, network, host string) *Proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	proxy := &Proxy{target: func() (net.Conn, error) { return net.Dial(network, host) }, listener: listener, conns: map[net.Conn]bool{}}
	go proxy.accept()
	t.Cleanup(func() { listener.Close(); proxy.CloseConnections() })
	return proxy
}

func portOf(address *url.URL) string {
	for _, port := range []string{address.Query().Get("port"), address.Port()} {
		if port != "" {
			return port
		}
	}
	return "5432"
}

// DropTraffic discards everything that is sent while on. Connections that lost traffic stay
// open and silent.
func (p *Proxy) DropTraffic(on bool) { p.dropping.Store(on) }

// SetDelay delays each chunk that is sent, in both directions.
func (p *Proxy) SetDelay(each time.Duration) { p.delay.Store(int64(each)) }

// RefuseConnections refuses new connections while on, as a server does that has no free
// connections.
func (p *Proxy) RefuseConnections(on bool) { p.refusing.Store(on) }

// refuseConnection answers a startup message with PostgreSQL's error for too many clients.
func refuseConnection(client net.Conn) {
	defer client.Close()
	if _, err := client.Read(make([]byte, 1<<10)); err != nil {
		return
	}
	const fields = "SFATAL\x00VFATAL\x00C53300\x00Msorry, too many clients already\x00\x00"
	_, _ = client.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(4+len(fields))), fields...)) // the client may have closed it
}

// PauseAt pauses the first connection whose client sends text, before the text arrives, until
// the caller closes resume. reached is closed when it pauses.
func (p *Proxy) PauseAt(text string) (reached <-chan struct{}, resume chan<- struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause = &pausePoint{[]byte(text), make(chan struct{}), make(chan struct{})}
	return p.pause.reached, p.pause.resume
}

// waitIfPaused waits if sent contains the text of the pause point.
func (p *Proxy) waitIfPaused(sent []byte) {
	p.mu.Lock()
	stop := p.pause
	if stop == nil || !bytes.Contains(sent, stop.text) {
		p.mu.Unlock()
		return
	}
	p.pause = nil
	p.mu.Unlock()
	close(stop.reached)
	<-stop.resume
}

// CloseConnections closes all connections.
func (p *Proxy) CloseConnections() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for conn := range p.conns {
		conn.Close()
	}
	clear(p.conns)
}

func (p *Proxy) track(conn net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns[conn] = true
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.track(client)
		if p.dropping.Load() {
			continue // accepted, never answered
		}
		if p.refusing.Load() {
			go refuseConnection(client)
			continue
		}
		server, err := p.target()
		if err != nil {
			client.Close()
			continue
		}
		p.track(server)
		go p.forward(server, client, p.waitIfPaused)
		go p.forward(client, server, func([]byte) {})
	}
}

// forward copies from one side to the other until one of them ends, and calls before with each chunk first.
func (p *Proxy) forward(to, from net.Conn, before func([]byte)) {
	dropped := false // a chunk was: the connection stays silent
	_, _ = io.Copy(writerFunc(func(b []byte) (int, error) {
		before(b)
		time.Sleep(time.Duration(p.delay.Load()))
		if dropped = dropped || p.dropping.Load(); dropped {
			return len(b), nil
		}
		return to.Write(b)
	}), from)
	if !dropped {
		to.Close()
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
