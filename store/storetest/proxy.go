package storetest

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

// Proxy is a network between a server and its database that can fail.
type Proxy struct {
	target   func() (net.Conn, error)
	listener net.Listener
	dropping atomic.Bool  // what is sent arrives nowhere, and nobody is told
	refusing atomic.Bool  // nobody more is let in
	delay    atomic.Int64 // how long each piece takes that is sent, in nanoseconds

	mu    sync.Mutex
	conns map[net.Conn]bool
	pause *pausePoint // nil for none
}

// pausePoint is where traffic stands still once.
type pausePoint struct {
	text            []byte
	reached, resume chan struct{}
}

// NewProxy puts a proxy between the test's database and whoever opens the
// address that it returns. PostgreSQL alone is reached over a network.
func NewProxy(t *testing.T, e Backend) (proxy *Proxy, address string) {
	t.Helper()
	PostgresOnly(t, e)
	behind, err := url.Parse(e.URL(t))
	require.NoError(t, err)
	network, host := "tcp", behind.Host
	if directory := behind.Query().Get("host"); directory != "" {
		network, host = "unix", directory+"/.s.PGSQL."+portOf(behind)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	proxy = &Proxy{target: func() (net.Conn, error) { return net.Dial(network, host) }, listener: listener, conns: map[net.Conn]bool{}}
	go proxy.accept()
	t.Cleanup(func() { listener.Close(); proxy.CloseConnections() })
	query := behind.Query()
	query.Del("host")
	query.Del("port")
	query.Set("sslmode", "disable")
	behind.Host, behind.RawQuery = listener.Addr().String(), query.Encode()
	return proxy, behind.String()
}

func portOf(address *url.URL) string {
	for _, port := range []string{address.Query().Get("port"), address.Port()} {
		if port != "" {
			return port
		}
	}
	return "5432"
}

// DropTraffic has everything that is sent vanish from now on, or no more. What was
// swallowed does not come again, and its connections are never ended.
func (p *Proxy) DropTraffic(on bool) { p.dropping.Store(on) }

// SetDelay has each piece that is sent, either way, take so long; 0 is no time.
func (p *Proxy) SetDelay(each time.Duration) { p.delay.Store(int64(each)) }

// RefuseConnections has the database take nobody more, as one has whose connections are all
// in use, until it is told otherwise.
func (p *Proxy) RefuseConnections(on bool) { p.refusing.Store(on) }

// refuseConnection says so, as PostgreSQL does, to whoever wants to begin.
func refuseConnection(client net.Conn) {
	defer client.Close()
	if _, err := client.Read(make([]byte, 1<<10)); err != nil {
		return
	}
	const fields = "SFATAL\x00VFATAL\x00C53300\x00Msorry, too many clients already\x00\x00"
	_, _ = client.Write(append(binary.BigEndian.AppendUint32([]byte("E"), uint32(4+len(fields))), fields...)) // it may have gone
}

// PauseAt has the first connection whose client sends these words stand still
// before they arrive, until resume is closed.
func (p *Proxy) PauseAt(words string) (reached <-chan struct{}, goOn chan<- struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pause = &pausePoint{[]byte(words), make(chan struct{}), make(chan struct{})}
	return p.pause.reached, p.pause.resume
}

// waitIfPaused waits if what is sent has the words of a stop.
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

// CloseConnections ends every connection.
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
			continue // taken, and never answered
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

// forward brings what comes from one side to the other, until either ends.
func (p *Proxy) forward(to, from net.Conn, before func([]byte)) {
	spoilt := false
	_, _ = io.Copy(writerFunc(func(b []byte) (int, error) {
		before(b)
		time.Sleep(time.Duration(p.delay.Load()))
		if spoilt = spoilt || p.dropping.Load(); spoilt {
			return len(b), nil
		}
		return to.Write(b)
	}), from)
	if !spoilt {
		to.Close()
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
