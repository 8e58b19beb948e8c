package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// published maps npm clients to their tests. The storefront uses the first one.
var published = map[string][]string{
	"@elasticpath/js-sdk": {"elasticpath.test.js", "storefront.test.js"},
	"@moltin/sdk":         {"moltin.test.js"},
	"@moltin/request":     {"request.test.js"},
}

// TestPublishedRESTClients runs the published REST clients unchanged except for the base URL.
// rest/clients has the assertions.
func TestPublishedRESTClients(t *testing.T) {
	testkit.FullTestsOnly(t, "each client starts a Node")
	const folder = "rest/clients"
	if _, err := exec.LookPath("node"); err != nil {
		testkit.SkipMissing(t, "node", "Node 18 or newer runs the published REST clients")
	}
	for name := range published {
		if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
			testkit.SkipMissing(t, "node", "the published REST clients are not installed; run: npm ci --prefix "+folder)
		}
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		url, key := e.URL(t), keyOf('k')
		server := startServer(t, "--demo", "--database-url", url, "--seal-key", key)
		limited := startServer(t, "--demo", "--database-url", url, "--seal-key", key, "--token-rate-address", "1")
		id, secret := newClient(t, []string{"--database-url", url})
		for name, files := range published {
			for _, file := range files {
				t.Run(name+" "+file, func(t *testing.T) {
					runNode(t, folder, file,
						"PORTICO_TEST_URL="+server.validated(t), "PORTICO_TEST_LIMITED_URL="+limited.validated(t),
						"PORTICO_TEST_CLIENT_ID="+id, "PORTICO_TEST_CLIENT_SECRET="+secret,
						"PORTICO_TEST_COMMAND="+program, "PORTICO_SEAL_KEY="+key, "PORTICO_DATABASE_URL="+url)
				})
			}
		}
	})
}

// tapLine matches a result in the Test Anything Protocol.
var tapLine = regexp.MustCompile(`(?m)^(not )?ok \d+ - (.*)$`)

// runNode runs a file with the test runner of Node, and reports each of its tests as a subtest.
func runNode(t *testing.T, folder, file string, environment ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	node := exec.CommandContext(ctx, "node", "--test", "--test-reporter=tap", file)
	node.Dir = folder
	node.Env = append(os.Environ(), environment...)
	var complaints strings.Builder
	node.Stderr = &complaints
	out, failed := node.Output()
	report := unindent(string(out))
	results := tapLine.FindAllStringSubmatchIndex(report, -1)
	bad := 0
	for i, at := range results {
		name, end := report[at[4]:at[5]], len(report)
		if i+1 < len(results) {
			end = results[i+1][0]
		}
		t.Run(name, func(t *testing.T) {
			if at[2] >= 0 {
				bad++
				t.Error(report[at[1]:end])
			}
		})
	}
	require.NotEmpty(t, results, "%s%s", out, complaints.String())
	require.Equal(t, bad > 0, failed != nil, "node: %v\n%s%s", failed, out, complaints.String())
}

// unindent removes the indentation of the tests below a file name, which only some versions of Node
// have.
func unindent(report string) string {
	const indent = "    "
	if !regexp.MustCompile(`(?m)^` + indent + `(not )?ok `).MatchString(report) {
		return report
	}
	var lines strings.Builder
	for line := range strings.Lines(report) {
		if inner, ok := strings.CutPrefix(line, indent); ok {
			lines.WriteString(inner)
		}
	}
	return lines.String()
}
