package e2e

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// TestAuditOfGraphQLOverHTTP runs the audit suite of graphql-http, which must report no error,
// warning or notice.
func TestAuditOfGraphQLOverHTTP(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "it starts Node; the tests of graph/transport cover the same requests")
	const folder = "internal/e2e/conformance"
	if _, err := exec.LookPath("node"); err != nil {
		testkit.SkipMissing(t, "node", "Node 20 or newer runs the audit of GraphQL over HTTP")
	}
	if _, err := os.Stat(filepath.Join(folder, "node_modules", "graphql-http")); err != nil {
		testkit.SkipMissing(t, "node", "the audit of GraphQL over HTTP is not installed; run: npm ci --prefix "+folder)
	}
	runNode(t, folder, "audit.test.js", "PORTICO_TEST_URL="+startServer(t, "--demo").validated(t))
}

// TestLongResponsesAreCompressed requires compression and Vary from all APIs, for cached and new
// responses.
func TestLongResponsesAreCompressed(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo")
	token := demoToken(t, s)
	const products = `{ products(first: 20) { nodes { uuid name sku slug description stock { available } } } }`
	for _, c := range []struct {
		name, method, path, body string
		long                     bool
	}{
		{"a page that is kept", "GET", "/catalog/nodes/node-coffee/relationships/products", "", true},
		{"stock, which is live", "GET", "/v2/inventories", "", true},
		{"a query with stock in it", "POST", "/graphql", `{"query":"` + products + `"}`, true},
		{"an introspection", "POST", "/graphql", `{"query":"{ __schema { types { name description } } }"}`, true},
		{"the schema", "GET", "/schema.graphql", "", true},
		{"the document of REST", "GET", "/openapi.yaml", "", true},
		{"the playground", "GET", "/", "", true},
		{"the page of REST", "GET", "/docs", "", true},
		{"what is short", "GET", "/v2/settings", "", false},
		{"what is short, over GraphQL", "POST", "/graphql", `{"query":"{ __typename }"}`, false},
		{"an error", "GET", "/catalog/nodes/none", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			plain := s.getEncoded(t, token, c.method, c.path, c.body, "identity")
			require.Empty(t, plain.Header.Get("Content-Encoding"))
			want, err := io.ReadAll(plain.Body)
			require.NoError(t, err)
			for _, encoding := range []string{"gzip", "zstd"} {
				for range 2 { // new, then cached
					got := s.getEncoded(t, token, c.method, c.path, c.body, encoding)
					require.Equal(t, plain.StatusCode, got.StatusCode)
					if !c.long {
						require.Empty(t, got.Header.Get("Content-Encoding"))
						continue
					}
					if c.path == "/docs" && encoding == "zstd" { // precompressed with gzip only
						continue
					}
					require.Equal(t, encoding, got.Header.Get("Content-Encoding"))
					require.Contains(t, strings.Join(got.Header.Values("Vary"), ", "), "Accept-Encoding")
					require.Contains(t, strings.Join(plain.Header.Values("Vary"), ", "), "Accept-Encoding", "also without compression")
					require.Equal(t, string(want), unpacked(t, got))
				}
			}
		})
	}
}

// getEncoded sends a request with an Accept-Encoding and does not decompress the response.
func (s *serverProcess) getEncoded(t *testing.T, token, method, path, body, encoding string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Accept-Encoding", encoding) // disables decompression by the transport
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultTransport.RoundTrip(r)
	require.NoError(t, err)
	t.Cleanup(func() { _ = answer.Body.Close() })
	return answer
}

func unpacked(t *testing.T, answer *http.Response) string {
	t.Helper()
	var body io.Reader
	var err error
	if answer.Header.Get("Content-Encoding") == "zstd" {
		body, err = zstd.NewReader(answer.Body)
	} else {
		body, err = gzip.NewReader(answer.Body)
	}
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	return string(text)
}
