package e2e

import (
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// addrFlag returns the --addr flag of the server for the health command.
func (s *serverProcess) addrFlag(t testing.TB) string {
	t.Helper()
	address, err := url.Parse(s.url)
	require.NoError(t, err)
	return "--addr=" + address.Host
}

func TestHealthCommand(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := startServer(t, append(flags, "--linger", "10m")...)
	require.Equal(t, "ok\n", mustRun(t, "health", s.addrFlag(t)))
	require.Equal(t, "ok\n", mustRun(t, "health", "--ready", s.addrFlag(t)))
	_, port, _ := strings.Cut(s.addrFlag(t), "127.0.0.1")
	require.Equal(t, "ok\n", mustRun(t, "health", "--addr", port), "as serve takes it for all interfaces")

	s.signal(syscall.SIGTERM)
	testkit.Eventually(t, 1, func() int {
		code, _, _ := portico(t, "health", "--ready", s.addrFlag(t))
		return code
	})
	code, _, stderr := portico(t, "health", "--ready", s.addrFlag(t))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "is unavailable: The server is shutting down.")
	require.Equal(t, "ok\n", mustRun(t, "health", s.addrFlag(t)), "health succeeds while the server responds")
	s.kill()
	code, _, stderr = portico(t, "health", s.addrFlag(t))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "no response from the server")
}

func TestHealthCommandOverTLS(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	writeCertificate(t, cert, key, 1)
	s := startServer(t, append(flags, "--tls-cert", cert, "--tls-key", key)...)
	require.Equal(t, "ok\n", mustRun(t, "health", s.addrFlag(t), "--tls-cert", cert))
	code, _, stderr := portico(t, "health", s.addrFlag(t))
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "is not portico")
	require.Zero(t, s.stop())
}
