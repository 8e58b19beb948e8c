package e2e

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// HTTP/2 frame types and flags.
const (
	h2Data         = 0
	h2Headers      = 1
	h2Reset        = 3
	h2Settings     = 4
	h2Ping         = 6
	h2Window       = 8
	h2Continuation = 9

	h2EndStream  = 1
	h2EndHeaders = 4
)

func frame(kind, flags byte, stream uint32, payload []byte) []byte {
	head := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return append(head, payload...)
}

// header returns an HPACK literal header field; name and value must be short.
func header(name, value string) []byte {
	return append(append([]byte{0, byte(len(name))}, name...), append([]byte{byte(len(value))}, value...)...)
}

// requestHeader returns the HPACK header block of a request.
func requestHeader(method, path string) []byte {
	return bytes.Join([][]byte{header(":method", method), header(":scheme", "https"), header(":authority", "x"), header(":path", path)}, nil)
}

// http2Server is a server with TLS and the certificates to trust.
type http2Server struct {
	*attackTarget
	trusted *x509.CertPool
}

// sendFrames opens an HTTP/2 connection and sends the frames of next until next returns nil or the
// server closes. It discards what the server sends if reads is set, else it does not read. ended is
// closed when the server closes.
func (s *http2Server) sendFrames(t *testing.T, reads bool, settings []byte, next func(i uint32) []byte) (ended <-chan struct{},
	end func()) {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"), &tls.Config{RootCAs: s.trusted, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	require.Equal(t, "h2", conn.ConnectionState().NegotiatedProtocol)
	closed := make(chan struct{})
	if reads {
		go func() { defer close(closed); _, _ = io.Copy(io.Discard, conn) }()
	}
	require.NoError(t, conn.SetWriteDeadline(time.Now().Add(10*time.Second)))
	_, err = conn.Write(append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(h2Settings, 0, 0, settings)...))
	require.NoError(t, err)
	for i := uint32(0); err == nil; i++ {
		sent := next(i)
		if sent == nil {
			break
		}
		_, err = conn.Write(sent)
	}
	return closed, func() { _ = conn.Close() }
}

// TestHTTP2Misuse requires that the server closes misused connections or bounds their memory, and
// serves other clients meanwhile.
func TestHTTP2Misuse(t *testing.T) {
	t.Parallel()
	folder, trusted := t.TempDir(), x509.NewCertPool()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	trusted.AddCert(writeCertificate(t, certFile, keyFile, 1))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	o := openDemo(t, "file:"+filepath.Join(t.TempDir(), "portico.db"))
	s := &http2Server{&attackTarget{}, trusted}
	s.serverProcess = o.serve(t, "--admin-addr", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile, "--response-time", "1s",
		"--body-time", "1s", "--header-time", "2s", "--idle-time", "500ms")
	alive := func() {
		t.Helper()
		response, err := (&http.Client{Transport: transport}).Get(s.url + "/healthz")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, 200, response.StatusCode)
	}
	alive()
	s.goroutines, s.heap = s.usage(t)
	many := uint32(testkit.QuickOrFull(3_000, 30_000))
	upTo := func(most uint32, make func(i uint32) []byte) func(uint32) []byte {
		return func(i uint32) []byte {
			if i == most {
				return nil
			}
			return make(i)
		}
	}
	window := make([]byte, 6) // SETTINGS_INITIAL_WINDOW_SIZE of 0
	window[1] = 4
	all := map[string]<-chan struct{}{}
	for _, misuse := range []struct {
		name     string
		reads    bool
		settings []byte
		next     func(uint32) []byte
	}{
		{"resets", true, nil, upTo(many, func(i uint32) []byte {
			return append(frame(h2Headers, h2EndStream|h2EndHeaders, 2*i+1, requestHeader("GET", "/docs")),
				frame(h2Reset, 0, 2*i+1, make([]byte, 4))...)
		})},
		{"a header without end", true, nil, upTo(many, func(i uint32) []byte {
			if i == 0 {
				return frame(h2Headers, h2EndStream, 1, requestHeader("GET", "/healthz"))
			}
			return frame(h2Continuation, 0, 1, header(fmt.Sprint("x-", i), strings.Repeat("x", 100)))
		})},
		{"empty continuations", true, nil, upTo(many, func(i uint32) []byte {
			if i == 0 {
				return frame(h2Headers, h2EndStream, 1, requestHeader("GET", "/healthz"))
			}
			return frame(h2Continuation, 0, 1, nil)
		})},
		{"settings", false, nil, upTo(many, func(uint32) []byte { return frame(h2Settings, 0, 0, window) })},
		{"pings", false, nil, upTo(many, func(uint32) []byte { return frame(h2Ping, 0, 0, make([]byte, 8)) })},
		{"empty data", true, nil, upTo(many, func(i uint32) []byte {
			if i == 0 {
				return frame(h2Headers, h2EndHeaders, 1, append(requestHeader("POST", "/graphql"), header("content-type", "application/json")...))
			}
			return frame(h2Data, 0, 1, nil)
		})},
		{"answers that nobody takes", true, window, upTo(100, func(i uint32) []byte {
			return frame(h2Headers, h2EndStream|h2EndHeaders, 2*i+1, requestHeader("GET", "/schema.graphql"))
		})},
		{"a window beyond all", true, nil, upTo(3, func(uint32) []byte { return frame(h2Window, 0, 0, []byte{0x7f, 0xff, 0xff, 0xff}) })},
		{"more streams than may be", true, nil, upTo(2_000, func(i uint32) []byte {
			return frame(h2Headers, h2EndHeaders, 2*i+1, append(requestHeader("POST", "/graphql"), header("content-type", "application/json")...))
		})},
		{"a frame beyond its bound", true, nil, upTo(1, func(uint32) []byte { return frame(h2Data, 0, 1, make([]byte, 1<<20)) })},
		{"a path that is none", true, nil, upTo(50, func(i uint32) []byte {
			return frame(h2Headers, h2EndStream|h2EndHeaders, 2*i+1,
				requestHeader("GET", []string{"", "*", "x", "/a b", "/%", "//", "/\x00", "http://x/"}[i%8]))
		})},
		{"a line within a header", true, nil, upTo(1, func(uint32) []byte {
			return frame(h2Headers, h2EndStream|h2EndHeaders, 1, append(requestHeader("GET", "/healthz"),
				header("x-request-id", "a\r\ninjected: y")...))
		})},
		{"a length that is another, and chunks", true, nil, upTo(1, func(uint32) []byte {
			return append(frame(h2Headers, h2EndHeaders, 1, append(requestHeader("POST", "/graphql"),
				append(header("content-length", "5"), header("transfer-encoding", "chunked")...)...)),
				frame(h2Data, h2EndStream, 1, []byte("0\r\n\r\nGET /nowhere HTTP/1.1\r\n\r\n"))...)
		})},
	} {
		ended, end := s.sendFrames(t, misuse.reads, misuse.settings, misuse.next)
		defer end()
		alive()
		if misuse.reads {
			all[misuse.name] = ended
		}
	}
	for name, ended := range all {
		select { // closed at once, or by a timeout
		case <-ended:
		case <-time.After(time.Minute):
			t.Errorf("%s: the connection stays", name)
		}
	}
	alive()
	transport.CloseIdleConnections()
	testkit.Eventually(t, true, func() bool { goroutines, _ := s.usage(t); return goroutines <= s.goroutines+goroutinesLeft })
	_, heap := s.usage(t)
	require.Less(t, heap, s.heap+bytesLeft)
	require.Zero(t, s.stop())
}

// TestIdleConnectionFlood opens thousands of idle connections from one address. The server keeps
// serving other addresses, and health checks from the same address.
func TestIdleConnectionFlood(t *testing.T) {
	t.Parallel()
	a := startAttackTarget(t, "--connections", "400", "--connections-address", "200", "--header-time", "3s")
	from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}}
	var all []net.Conn
	defer func() {
		for _, conn := range all {
			conn.Close()
		}
	}()
	for i := range testkit.QuickOrFull(1_000, 3_000) {
		conn, err := from.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
		if err != nil {
			t.Skipf("cannot use another local address, or that many connections: %v", err)
		}
		all = append(all, conn)
		if i%3 == 0 {
			_, _ = io.WriteString(conn, "GET /v2/settings HTTP/1.1\r\nHost: x\r\nX-Slow: ") // the server may have closed it
		}
		if i%100 == 0 {
			a.requireServing(t)
		}
	}
	a.requireServing(t)
	for _, conn := range all {
		conn.Close()
	}
	a.requireRecovered(t)
}
