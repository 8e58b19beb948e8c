package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"
)

// TestAHeaderIsBoundedByAFlag, within the 4 KiB that the library gives to each.
func TestAHeaderIsBoundedByAFlag(t *testing.T) {
	t.Parallel()
	s := serving(t, "--demo", "--header-bytes", "20000")
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

// TestAMessageIsBoundedByAFlag: what is longer ends its WebSocket.
func TestAMessageIsBoundedByAFlag(t *testing.T) {
	t.Parallel()
	s := serving(t, "--demo", "--message-bytes", "3000")
	said := func(size int) (string, error) {
		conn, _, err := websocket.Dial(t.Context(), s.url+"/graphql", &websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
		require.NoError(t, err)
		defer conn.CloseNow()
		const begins, ends = `{"type":"connection_init"`, `}`
		require.NoError(t, conn.Write(context.Background(), websocket.MessageText, []byte(begins+strings.Repeat(" ", size-len(begins)-len(ends))+ends)))
		_, message, err := conn.Read(t.Context())
		return string(message), err
	}
	message, err := said(3000)
	require.NoError(t, err)
	require.Contains(t, message, "connection_ack")
	_, err = said(3001)
	require.Error(t, err)
}
