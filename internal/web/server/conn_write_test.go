package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func joined(c *limitedConn) JoinedWrite {
	r, _ := http.NewRequestWithContext(context.WithValue(context.Background(), connKey{}, c), http.MethodGet, "/", nil)
	return JoinWrites(r)
}

func TestWritesAreJoined(t *testing.T) {
	t.Parallel()
	small, large := strings.Repeat("a", maxHeldBytes), strings.Repeat("b", 2*maxHeldBytes)
	for _, test := range []struct {
		name   string
		writes []string
	}{
		{"two", []string{small, large}},
		{"three", []string{small, large, small}},
		{"one", []string{small}},
		{"a large one first", []string{large, small}},
		{"none", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, c, inner := newRecordingConn(t)
			j := joined(c)
			for i, text := range test.writes {
				buffer := []byte(text)
				n, err := c.Write(buffer)
				require.NoError(t, err)
				require.Equal(t, len(text), n)
				clear(buffer) // as net/http, which uses it again
				if i == 0 && text == small {
					require.Empty(t, inner.written)
				}
			}
			j.End()
			require.Equal(t, strings.Join(test.writes, ""), strings.Join(inner.written, ""))
			require.Nil(t, c.held)
			require.False(t, inner.closed)
			_, err := c.Write([]byte("next"))
			require.NoError(t, err)
			require.Equal(t, "next", inner.written[len(inner.written)-1])
		})
	}
}

// TestJoinedWriteFails requires that the connection of an incomplete response is not used again.
func TestJoinedWriteFails(t *testing.T) {
	t.Parallel()
	_, c, inner := newRecordingConn(t)
	inner.err = os.ErrDeadlineExceeded
	j := joined(c)
	_, err := c.Write([]byte("held"))
	require.NoError(t, err)
	n, err := c.Write([]byte("not written"))
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.Zero(t, n)
	j.End()
	require.False(t, inner.closed, "net/http closes it")

	j = joined(c)
	_, err = c.Write([]byte("held"))
	require.NoError(t, err)
	j.End()
	require.True(t, inner.closed)
}

// TestJoinedResponses requires the same bytes with and without joined writes, over a socket.
func TestJoinedResponses(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := newLimitListener(listener, 8, 8, nil)
	server := &http.Server{ConnContext: l.connContext, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Join") != "" {
			defer JoinWrites(r).End()
		}
		size, err := strconv.Atoi(r.URL.Path[1:])
		assert.NoError(t, err)
		w.Header()["Date"] = nil
		if size%2 == 0 { // else in chunks
			w.Header().Set("Content-Length", strconv.Itoa(size))
		}
		_, err = w.Write(bytes.Repeat([]byte("0123456789"), 1+size/10)[:size])
		assert.NoError(t, err)
	})}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	in := bufio.NewReader(conn)
	response := func(size int, header string) string {
		t.Helper()
		_, err := fmt.Fprintf(conn, "GET /%d HTTP/1.1\r\nHost: x\r\n%s\r\n", size, header)
		require.NoError(t, err)
		var seen bytes.Buffer
		response, err := http.ReadResponse(bufio.NewReaderSize(io.TeeReader(in, &seen), 16), nil)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.Len(t, body, size)
		return seen.String()
	}
	for size := 0; size < 1<<20; size += 1 + size/3 {
		require.Equal(t, response(size, ""), response(size, "X-Join: 1\r\n"), "%d bytes", size)
	}
}
