package testkit

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// FreePort returns a port that nobody listens on, outside the range that the kernel assigns.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		port := strconv.Itoa(20_000 + rand.IntN(12_000))
		if listener, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			listener.Close()
			return port
		}
	}
	require.FailNow(t, "no free port")
	return ""
}

// IsListening reports whether something listens on a TCP port of this machine.
func IsListening(port string) bool {
	connection, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return false
	}
	connection.Close()
	return true
}
