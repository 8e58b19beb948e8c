package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// TestHeaderBytesFlag tests --header-bytes, which net/http exceeds by 4 KiB.
func TestHeaderBytesFlag(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo", "--header-bytes", "20000")
	status := func(size int) int {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		require.NoError(t, err)
		defer conn.Close()
		fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: portico\r\nX-Long: %s\r\n\r\n", strings.Repeat("x", size-60))
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		response.Body.Close()
		return response.StatusCode
	}
	require.Equal(t, http.StatusOK, status(20_000))
	require.Equal(t, http.StatusRequestHeaderFieldsTooLarge, status(20_000+4_200))
	code, _, stderr := portico(t, "serve", "--demo", "--header-bytes", "-1")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--header-bytes")
}

// TestMessageBytesFlag tests --message-bytes: a longer message closes the WebSocket.
func TestMessageBytesFlag(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo", "--message-bytes", "3000")
	said := func(size int) (string, error) {
		conn, _, err := websocket.Dial(t.Context(), s.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
		require.NoError(t, err)
		defer conn.CloseNow()
		const begins, ends = `{"type":"connection_init"`, `}`
		require.NoError(t, conn.Write(context.Background(), websocket.MessageText,
			[]byte(begins+strings.Repeat(" ", size-len(begins)-len(ends))+ends)))
		_, message, err := conn.Read(t.Context())
		return string(message), err
	}
	message, err := said(3000)
	require.NoError(t, err)
	require.Contains(t, message, "connection_ack")
	_, err = said(3001)
	require.Error(t, err)
}

// TestImportLineBytesFlag requires an error for a line that is too long, at any position, besides
// the errors of other lines.
func TestImportLineBytesFlag(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	line := func(id string, size int) string {
		const begins, ends = `{"type":"hierarchy","id":"`, `","attributes":{"name":"H"}}`
		return begins + id + ends + strings.Repeat(" ", size-len(begins+id+ends)) + "\n"
	}
	file := func(lines ...string) string {
		path := filepath.Join(t.TempDir(), "lines.ndjson")
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644))
		return path
	}
	for _, bound := range []int{100, 1 << 20, 3<<20 + 5} { // the buffer has 1 MiB
		with := append([]string{"import", "--line-bytes", strconv.Itoa(bound)}, flags...)
		require.Contains(t, mustRun(t, append(with, file(line("a", bound), line("b", bound), strings.TrimSuffix(line("c", bound), "\n")))...),
			"imported 3 resources")
		first, second := file(line("d", bound)), file(line("e", bound), line("f", bound+1), `{"type":"comet"}`+"\n", line("g", bound+(5<<20)),
			strings.TrimSuffix(line("h", bound+1), "\n"))
		code, _, stderr := portico(t, append(with, first, second)...)
		require.Equal(t, 1, code)
		const tooLong = ":%d: The line is longer than %d bytes; shorten its texts and lists, or raise --line-bytes.\n"
		for _, at := range []int{2, 4, 5} {
			require.Contains(t, stderr, second+fmt.Sprintf(tooLong, at, bound))
		}
		require.Contains(t, stderr, second+":3: comet: type must be one of")
		require.Contains(t, stderr, "4 errors. Nothing was imported")
	}
}

// TestStreamsConnectionFlag tests --streams-connection: the server announces the limit, refuses one
// more stream, and accepts it when another has ended.
func TestStreamsConnectionFlag(t *testing.T) {
	t.Parallel()
	folder, trusted := t.TempDir(), x509.NewCertPool()
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	trusted.AddCert(writeCertificate(t, certFile, keyFile, 1))
	s := startServer(t, "--demo", "--tls-cert", certFile, "--tls-key", keyFile, "--streams-connection", "3")
	conn, err := tls.Dial("tcp", strings.TrimPrefix(s.url, "https://"), &tls.Config{RootCAs: trusted, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(30*time.Second)))
	send := func(frames ...[]byte) {
		_, err := conn.Write(bytes.Join(frames, nil))
		require.NoError(t, err)
	}
	// until reads frames up to one of a type and stream.
	until := func(kind byte, stream uint32) (payload []byte) {
		for {
			head := make([]byte, 9)
			_, err := io.ReadFull(conn, head)
			require.NoError(t, err)
			payload = make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
			_, err = io.ReadFull(conn, payload)
			require.NoError(t, err)
			of := binary.BigEndian.Uint32(head[5:])
			if head[3] == kind && of == stream {
				return payload
			}
			require.NotEqual(t, byte(h2Reset), head[3], "stream %d was reset", of)
		}
	}
	begun := func(stream uint32) []byte {
		return frame(h2Headers, h2EndHeaders, stream, append(requestHeader("POST", "/graphql"), header("content-type", "application/json")...))
	}
	send([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(h2Settings, 0, 0, nil))
	require.Contains(t, string(until(h2Settings, 0)), string([]byte{0, 3, 0, 0, 0, 3}), "SETTINGS_MAX_CONCURRENT_STREAMS")
	send(begun(1), begun(3), begun(5), begun(7))
	require.Equal(t, []byte{0, 0, 0, 7}, until(h2Reset, 7), "REFUSED_STREAM, since it may not have been told yet")
	send(frame(h2Data, h2EndStream, 3, []byte(`{"query":"{__typename}"}`)))
	require.Contains(t, string(until(h2Data, 3)), `"Query"`)
	send(begun(9), frame(h2Data, h2EndStream, 9, []byte(`{"query":"{__typename}"}`)))
	require.Contains(t, string(until(h2Data, 9)), `"Query"`)
}
