package e2e

import (
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSubscriptionsOverHTTP2 requires that streams and requests share a connection, and that
// streams end on shutdown.
func TestSubscriptionsOverHTTP2(t *testing.T) {
	t.Parallel()
	o := openDemo(t, "file:"+filepath.Join(t.TempDir(), "live.db"))
	_, token := o.issue(t, "inventory:read", "catalog:read")
	folder, trusted := t.TempDir(), x509.NewCertPool()
	certificate, key := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	trusted.AddCert(writeCertificate(t, certificate, key, 1))
	s := o.serve(t, "--tls-cert", certificate, "--tls-key", key, "--response-time", "300ms", "--connections", "4", "--connections-address", "1")
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	var streams []*eventsOf
	for range 10 { // on one connection, the limit of the address
		stream := streamingBy(t, client, s.url, token, map[string]any{"query": espressos})
		require.Equal(t, "HTTP/2.0", stream.Proto)
		stream.want(t, americanos("400"))
		streams = append(streams, stream)
	}
	time.Sleep(400 * time.Millisecond) // beyond the response time limit
	o.sell(t, "prod-americano")
	for _, stream := range streams {
		stream.want(t, americanos("399"))
	}
	require.NoError(t, streams[0].Body.Close())
	o.sell(t, "prod-americano")
	for _, stream := range streams[1:] {
		stream.want(t, americanos("398"))
	}
	require.Zero(t, s.stop())
	event, _ := streams[1].next()
	require.Equal(t, "end", event, "cut off without a complete event")
}
