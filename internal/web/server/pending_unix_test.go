//go:build unix

package server

import (
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPendingConnectionsAreAccepted requires that a shutdown accepts connections that the kernel has established, even if the
// machine is so busy that Accept runs after its deadline.
func TestPendingConnectionsAreAccepted(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	limited := newLimitListener(listener, 10, 10, nil)
	client, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	limited.stopAccepting()
	time.Sleep(2 * acceptGrace)
	conn, err := limited.Accept()
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	_, err = limited.Accept()
	require.ErrorIs(t, err, net.ErrClosed)
}
