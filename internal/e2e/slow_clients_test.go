package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// dial opens a connection to a server and sends the beginning of a request.
func (s *serverProcess) dial(t *testing.T, begin string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, begin)
	require.NoError(t, err)
	return conn
}

// readToClose reads a response, after which the server must close the connection.
func readToClose(t *testing.T, conn net.Conn) (*http.Response, string) {
	t.Helper()
	from := bufio.NewReader(conn)
	response, err := http.ReadResponse(from, nil)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	_, err = from.ReadByte()
	require.Error(t, err, "the connection is closed")
	return response, string(body)
}

// partialRequests returns a request to each API without its body, with the beginning of an error of
// that API.
func partialRequests() map[string]string {
	head := func(method, path, kind string) string {
		return fmt.Sprintf("%s %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: 100\r\n", method, path, kind)
	}
	return map[string]string{
		head("POST", "/graphql", "application/json"):                                `{"errors":[{"message":`,
		head("PUT", "/v2/settings", "application/json"):                             `{"errors":[{"status":%d,`,
		head("POST", "/v2/promotions/x/codes", "application/json"):                  `{"errors":[{"status":%d,`,
		head("POST", "/oauth/access_token", "application/x-www-form-urlencoded"):    `{"errors":[{"status":%d,`,
		head("POST", "/v2/inventories/multiple", "application/vnd.example.v1+json"): `{"errors":[{"status":%d,`,
	}
}

func begins(t *testing.T, envelope string, status int, response *http.Response, body string) {
	t.Helper()
	require.Equal(t, status, response.StatusCode, body)
	require.Equal(t, "application/json", response.Header.Get("Content-Type"))
	if strings.Contains(envelope, "%d") {
		envelope = fmt.Sprintf(envelope, status)
	}
	require.True(t, strings.HasPrefix(body, envelope), "got %s\nwant %s", body, envelope)
}

func TestSlowHeadersTimeOut(t *testing.T) {
	flags, _ := database(t)
	s := startServer(t, append(flags, "--header-time", "50ms")...)
	var all []net.Conn
	for head := range partialRequests() {
		all = append(all, s.dial(t, head+"X-Slow: "))
	}
	for _, conn := range append(all, s.dial(t, "")) {
		_, err := bufio.NewReader(conn).ReadByte()
		require.Error(t, err, "the connection is closed")
	}
}

// TestSlowBodiesTimeOut sends one byte of a body and stops.
func TestSlowBodiesTimeOut(t *testing.T) {
	flags, _ := database(t)
	id, secret := newClient(t, flags)
	s := startServer(t, append(flags, "--body-time", "50ms")...)
	_, token := s.login(t, id, secret)
	for head, envelope := range partialRequests() {
		response, body := readToClose(t, s.dial(t, head+"Authorization: Bearer "+token+"\r\n\r\n{"))
		begins(t, envelope, http.StatusRequestTimeout, response, body)
		require.Contains(t, body, "did not arrive in time")
	}
	// Also a body that the handler does not read.
	for _, path := range []string{"/v2/settings", "/v2/nowhere", "/healthz"} {
		conn := s.dial(t, "GET "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{")
		_, _ = readToClose(t, conn)
	}
	// A body in time is not affected.
	response, body := s.graphql(t, token, `{ settings { pageLength } }`)
	require.Equal(t, 200, response.StatusCode, body)
}

// TestHealthChecksAtConnectionLimit requires that health checks work on new connections while all
// others are in use.
func TestHealthChecksAtConnectionLimit(t *testing.T) {
	flags, _ := database(t)
	s := startServer(t, append(flags, "--connections", "20", "--connections-address", "20", "--admin-addr", "127.0.0.1:0")...)
	var held []net.Conn
	for range 20 {
		for head := range partialRequests() {
			if len(held) < 20 {
				held = append(held, s.dial(t, head+"\r\n{"))
			}
		}
	}
	probe := func(path string) (*http.Response, string) {
		return readToClose(t, s.dial(t, "GET "+path+" HTTP/1.1\r\nHost: x\r\n\r\n"))
	}
	for range 3 {
		for _, path := range []string{"/healthz", "/readyz"} {
			response, body := probe(path)
			require.Equal(t, 200, response.StatusCode)
			require.Equal(t, "{\"status\":\"ok\"}\n", body)
		}
	}
	for path, envelope := range map[string]string{
		"/graphql?query={__typename}": `{"errors":[{"message":`, "/v2/settings": `{"errors":[{"status":%d,`,
		"/catalog/nodes": `{"errors":[{"status":"503",`, "/docs": `{"errors":[{"status":%d,`,
	} {
		response, body := probe(path)
		begins(t, envelope, http.StatusServiceUnavailable, response, body)
		require.Equal(t, "1", response.Header.Get("Retry-After"))
		require.Contains(t, body, "Too many open connections")
	}
	for range 100 { // far above the limit
		s.dial(t, "GET /v2/settings HTTP/1.1\r\n")
	}
	response, _ := probe("/healthz")
	require.Equal(t, 200, response.StatusCode)
	answer, err := http.Get(s.admin + "/metrics")
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, 200, answer.StatusCode, "the admin listener has its own limit")
	for _, conn := range held {
		conn.Close()
	}
	testkit.Eventually(t, true, func() bool {
		response, _ := s.send(t, "GET", "/v2/settings", "")
		return response.StatusCode == http.StatusUnauthorized
	}, "there is room again")
}

// TestIdleConnectionsAreEvicted requires that the server closes idle connections to accept new ones
// at the limit.
func TestIdleConnectionsAreEvicted(t *testing.T) {
	flags, _ := database(t)
	s := startServer(t, append(flags, "--connections", "20", "--connections-address", "5")...)
	for range 30 {
		conn := s.dial(t, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		require.False(t, response.Close, "not a reserve connection")
	}
}

func TestConnectionsAddressFlag(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "holds connections for seconds")
	flags, _ := database(t)
	ask := func(s *serverProcess) int {
		for range 5 {
			s.dial(t, "GET /v2/settings HTTP/1.1\r\n")
		}
		response, _ := readToClose(t, s.dial(t, "GET /v2/settings HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
		return response.StatusCode
	}
	s := startServer(t, append(flags, "--connections", "100", "--connections-address", "5")...)
	require.Equal(t, 503, ask(s))
	s.stop()
	s = startServer(t, append(flags, "--connections", "100", "--connections-address", "5", "--trusted-proxy", "127.0.0.0/8")...)
	require.Equal(t, 401, ask(s), "trusted proxies are not limited")
}

func TestInvalidLimitFlags(t *testing.T) {
	for _, flag := range []string{"--body-time=-1s", "--connections=-1", "--response-memory=-1"} {
		code, _, stderr := portico(t, "serve", flag)
		require.Equal(t, 2, code)
		require.Contains(t, stderr, "must be 0 or more")
	}
}
