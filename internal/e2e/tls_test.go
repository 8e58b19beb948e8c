package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// writeCertificate writes a self-signed certificate for this machine, and its key.
func writeCertificate(t *testing.T, certFile, keyFile string, serial int64) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), 0o600))
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return certificate
}

func TestTLS(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	directory := t.TempDir()
	certFile, keyFile := filepath.Join(directory, "cert.pem"), filepath.Join(directory, "key.pem")
	trusted := x509.NewCertPool()
	trusted.AddCert(writeCertificate(t, certFile, keyFile, 1))
	s := startServer(t, append(flags, "--tls-cert", certFile, "--tls-key", keyFile)...)
	require.Contains(t, s.url, "https://127.0.0.1:")
	ask := func() (serial int64, protocol string) {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		response, err := (&http.Client{Transport: transport}).Get(s.url + "/readyz")
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, http.StatusOK, response.StatusCode)
		return response.TLS.PeerCertificates[0].SerialNumber.Int64(), response.Proto
	}
	serial, protocol := ask()
	require.Equal(t, int64(1), serial)
	require.Equal(t, "HTTP/2.0", protocol)

	require.NoError(t, os.WriteFile(certFile, []byte("half"), 0o600))
	time.Sleep(1100 * time.Millisecond)
	serial, _ = ask()
	require.Equal(t, int64(1), serial, "what cannot be read changes nothing")
	trusted.AddCert(writeCertificate(t, certFile, keyFile, 2))
	testkit.Eventually(t, true, func() bool { serial, _ := ask(); return serial == 2 })
	require.Zero(t, s.stop())

	code, _, stderr := portico(t, append([]string{"serve", "--tls-cert", certFile}, flags...)...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--tls-cert and --tls-key must be set together")
	writeCertificate(t, filepath.Join(directory, "other.pem"), keyFile, 3)
	code, _, stderr = portico(t, append([]string{"serve", "--addr", "127.0.0.1:0", "--tls-cert", certFile, "--tls-key", keyFile}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "private key does not match public key")
}
