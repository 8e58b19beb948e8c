package e2e

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rawRequest is sent on a connection as it is, with the statuses of the responses before the server
// closes or pauses.
type rawRequest struct {
	name, sent string
	statuses   []int
}

const (
	typename = `{"query":"{__typename}"}` // 24 bytes, 18 in hexadecimal
	chunk    = "18\r\n" + typename + "\r\n0\r\n\r\n"
	hidden   = "GET /v2/nowhere HTTP/1.1\r\nHost: x\r\n\r\n" // would get 404
	bye      = "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
)

// rawRequests returns malformed requests and request smuggling attempts. The server must not answer
// hidden where a proxy would take it for a part of another request.
func rawRequests(token string) (all []rawRequest) {
	posted := func(headers, body string) string {
		return "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer " + token + "\r\n" + headers + "\r\n" + body
	}
	add := func(name, sent string, statuses ...int) { all = append(all, rawRequest{name, sent, statuses}) }

	add("a length and chunks", posted("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", chunk+hidden), 200)
	add("chunks and a length", posted("Transfer-Encoding: chunked\r\nContent-Length: 24\r\n", "0\r\n\r\n"+hidden), 400)
	add("two lengths", posted("Content-Length: 24\r\nContent-Length: 25\r\n", typename+hidden), 400)
	add("a length twice", posted("Content-Length: 24\r\nContent-Length: 24\r\n", typename+bye), 200, 200)
	add("a list of lengths", posted("Content-Length: 24, 24\r\n", typename+hidden), 400)
	for _, length := range []string{"-1", "+24", "0x18", "24a", "2 4", "1e2", "", "99999999999999999999"} {
		add(fmt.Sprintf("the length %q", length), posted("Content-Length: "+length+"\r\n", typename+hidden), 400)
	}
	for _, coding := range []string{"xchunked", "chunked, identity", "identity", "chunked, chunked", "gzip, chunked", `"chunked"`,
		"chunked\r\nTransfer-Encoding: identity", "identity\r\nTransfer-Encoding: chunked"} {
		add(fmt.Sprintf("the coding %q", coding), posted("Transfer-Encoding: "+coding+"\r\n", chunk+hidden), 501)
	}
	for _, line := range []string{"Transfer-Encoding : chunked", " Transfer-Encoding: chunked", "Transfer\x00-Encoding: chunked",
		"Transfer-Encoding: \x0bchunked", "X: a\rTransfer-Encoding: chunked"} {
		if strings.HasPrefix(line, " ") { // obsolete line folding
			add(fmt.Sprintf("the line %q", line), posted("X: y\r\n"+line+"\r\nContent-Length: 24\r\n", typename+bye), 200, 200)
			continue
		}
		add(fmt.Sprintf("the line %q", line), posted(line+"\r\n", chunk+hidden), 400)
	}
	add("a coding on a line of its own", posted("Transfer-Encoding:\r\n chunked\r\n", chunk+hidden), 200)
	add("a length on a line of its own", posted("Content-Length:\r\n 24\r\n", typename+bye), 200, 200)
	add("bare line feeds", strings.ReplaceAll(posted("Content-Length: 24\r\n", typename), "\r\n", "\n")+bye, 200, 200)
	add("chunks of HTTP/1.0", strings.Replace(posted("Transfer-Encoding: chunked\r\n", chunk+hidden), "HTTP/1.1", "HTTP/1.0", 1), 400)
	add("an extension of a chunk", posted("Transfer-Encoding: chunked\r\n", "18;a=\"b\"\r\n"+typename+"\r\n0\r\n\r\n"+hidden), 200)
	add("trailers", posted("Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n",
		"18\r\n"+typename+"\r\n0\r\nAuthorization: x\r\nContent-Length: 9\r\n\r\n"+hidden), 200)
	for _, size := range []string{"18;a\n", "-18\r\n", "0x18\r\n", "18 \n", "\r\n", "10000000000000018\r\n",
		"18;" + strings.Repeat("a", 5000) + "\r\n"} {
		add(fmt.Sprintf("the size %.12q of a chunk", size), posted("Transfer-Encoding: chunked\r\n", size+typename+"\r\n0\r\n\r\n"+hidden), 400)
	}
	add("a chunk that goes on", posted("Transfer-Encoding: chunked\r\n", "18\r\n"+typename+"XX0\r\n\r\n"+hidden), 400)
	add("many small chunks with much beside them", posted("Transfer-Encoding: chunked\r\n",
		strings.Repeat("1;"+strings.Repeat("a", 1000)+"\r\n \r\n", 100)), 400)
	add("data behind a body", posted("Content-Length: 24\r\n", typename+"XXXX\r\n\r\n"), 200, 400)
	add("a request in a body", "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: "+fmt.Sprint(len(hidden))+"\r\n\r\n"+hidden+bye, 200, 200)

	for _, host := range []string{"", "Host: x\r\nHost: y\r\n", "Host: a b\r\n", "Host: x/../y\r\n", "Host: x@y\r\n", "Host: \x01\r\n"} {
		add(fmt.Sprintf("%q for a host", host), "GET /healthz HTTP/1.1\r\n"+host+"\r\n"+hidden, 400)
	}
	for version, status := range map[string]int{"HTTP/0.9": 505, "HTTP/2.0": 505, "HTTP/3.7": 505, "http/1.1": 400, "HTTPS/1.1": 400,
		"": 400} {
		add(fmt.Sprintf("the version %q", version), "GET /healthz "+version+"\r\nHost: x\r\n\r\n"+hidden, status)
	}
	for _, line := range []string{"X: a\x00b", "A b: c", "abc", ": c", "X\r: a"} {
		add(fmt.Sprintf("the header %q", line), "GET /healthz HTTP/1.1\r\nHost: x\r\n"+line+"\r\n\r\n"+hidden, 400)
	}
	for _, target := range []string{"/v2/\x00", "/v2/ x", "/v2/%zz", "/v2/%", `\v2\settings`, "v2/settings", "?", "#", "*"} {
		add(fmt.Sprintf("the target %q", target), "GET "+target+" HTTP/1.1\r\nHost: x\r\n\r\n"+hidden, 400)
	}
	add("a long target", "GET /v2/"+strings.Repeat("a", 80_000)+" HTTP/1.1\r\nHost: x\r\n\r\n", 431)
	add("a long header", "GET /healthz HTTP/1.1\r\nHost: x\r\nA: "+strings.Repeat("b", 80_000)+"\r\n\r\n", 431)
	add("many headers", "GET /healthz HTTP/1.1\r\nHost: x\r\n"+strings.Repeat("A: b\r\n", 20_000)+"\r\n", 431)
	add("a tunnel", "CONNECT elsewhere.example:443 HTTP/1.1\r\nHost: x\r\n\r\n"+bye, 405, 200)
	add("a trace", "TRACE /healthz HTTP/1.1\r\nHost: x\r\n\r\n"+bye, 405, 200)
	add("the beginning of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400)
	add("an upgrade that is none", "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"+bye, 200, 200)
	add("another expectation", "POST /graphql HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 0\r\n\r\n"+bye, 417)
	for _, host := range []string{"http://elsewhere.example", "https://a:b@elsewhere.example:99"} { // is this server's own
		add("the address "+host, "GET "+host+"/v2/settings HTTP/1.1\r\nHost: x\r\n\r\n"+bye, 401, 200)
	}
	add("TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"+strings.Repeat("a", 600)+"\r\n\r\n", 400)
	return all
}

// statuses sends bytes on a new connection and returns the statuses of the responses, until the
// server closes or pauses.
func (a *attackTarget) statuses(t *testing.T, sent string) (statuses []int) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(a.url, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, sent) }() // the server may not read all of it
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	for from := bufio.NewReader(conn); ; {
		response, err := http.ReadResponse(from, nil)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			require.NoError(t, err, "after %v", statuses)
		}
		if err != nil {
			return statuses
		}
		require.Empty(t, response.Header.Get("Injected"))
		statuses = append(statuses, response.StatusCode)
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return statuses
		}
	}
}

// TestMalformedRequests requires that the server rejects a malformed request and closes its
// connection, so that it never reads a request from the rest.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	a := startAttackTarget(t, "--idle-time", "2s", "--header-time", "2s", "--body-time", "5s")
	for _, w := range rawRequests(a.token) {
		if got := a.statuses(t, w.sent); !slices.Equal(w.statuses, got) {
			t.Errorf("%s is answered %v, not %v", w.name, got, w.statuses)
		}
	}
	a.requireRecovered(t)
}

// TestPathTraversal requires that paths do not reach other files, and that echoed input stays text.
func TestPathTraversal(t *testing.T) {
	t.Parallel()
	a := startAttackTarget(t)
	for _, path := range []string{
		"/v2/./settings", "/v2/../v2/settings", "/v2/%2e%2e/settings", "/v2/%2e/settings", "/v2%2fsettings", "/v2/settings%2f",
		"/v2/settings;x=1", "/v2/%00", "/v2/settings%00",
		"/docs/..%2f..%2fserver.go", "/docs/%2e%2e/server.go", "/playground/%2e%2e%2f%2e%2e%2fserver.go", "/graphiql/....//x",
		"/playground/..%5c..%5cserver.go", "/.git/config", "/etc/passwd",
		"/v2/inventories/%0d%0aInjected:%20y", "/v2/promotions/%22%3e%3cscript%3e", "/catalog/nodes/%0aInjected:%20y",
		"/catalog/products/..%2f..%2fsettings", "/%0d%0aInjected:%20y",
		"/v2/inventories/" + strings.Repeat("a", 5_000), "/catalog/products/" + strings.Repeat("%C3%A9", 1_000),
		"/" + strings.Repeat("/a", 10_000),
		"/v2/%ff", "/v2/inventories/%c0%ae%c0%ae", "/catalog/nodes?%ff", "/catalog/nodes?x=%ed%a0%80", "/v2/settings%23frag",
		"/v2/files/http:%2f%2f169.254.169.254%2flatest",
	} {
		for _, headers := range [][]string{nil, {"Prefer", "graphql, explain"}, {"X-Request-Id", "a b\tInjected: c"},
			{"Accept-Language", strings.Repeat("en;q=0.1,", 3_000)}, {"Idempotency-Key", strings.Repeat("k", 20_000)}} {
			response, body := a.send(t, "GET", path, "", append(headers, "Authorization", "Bearer "+a.token)...)
			what := fmt.Sprintf("%.60s with %.60s", path, headers)
			requireDocumentedShape(t, what, path, response, body)
			require.GreaterOrEqual(t, response.StatusCode, 400, what)
			require.NotContains(t, body, "package main", what)
			require.Regexp(t, `^[A-Za-z0-9._-]{1,64}$`, response.Header.Get("X-Request-Id"))
		}
	}
	for _, header := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method"} {
		response, body := a.send(t, "POST", "/v2/promotions?_method=DELETE", `{}`, header, "DELETE", "Content-Type", "application/json",
			"Authorization", "Bearer "+a.token)
		require.Equal(t, 422, response.StatusCode, "%s has a request be another one: %s", header, body)
	}
	for _, header := range []string{"X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix", "X-Forwarded-Host", "Forwarded"} {
		response, body := a.send(t, "GET", "/v2/inventories/prod-americano", "", header, "/v2/settings", "Authorization", "Bearer "+a.token)
		require.Equal(t, 200, response.StatusCode)
		require.NotContains(t, body, "page_length")
	}
	a.requireRecovered(t)
}
