package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// TestSubscriptionClients runs the published subscription clients unchanged. internal/e2e/clients/live has
// the assertions.
func TestSubscriptionClients(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "each client starts a Node; TestStockEventsFromAllServers reads events over both transports")
	const folder = "internal/e2e/clients/live"
	if _, err := exec.LookPath("node"); err != nil {
		testkit.SkipMissing(t, "node", "Node 20 or newer runs the published clients of subscriptions")
	}
	for _, name := range []string{"graphql-sse", "graphql-ws"} {
		if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
			testkit.SkipMissing(t, "node", "the published clients of subscriptions are not installed; run: npm ci --prefix "+folder)
		}
	}
	o := openDemo(t, "file:"+filepath.Join(t.TempDir(), "live.db"))
	_, token := o.issue(t)
	gone, revoked := o.issue(t)
	_, err := o.Access.RevokeClient(t.Context(), "test", gone)
	require.NoError(t, err)
	runNode(t, folder, "live.test.js", "PORTICO_TEST_URL="+o.serve(t).url, "PORTICO_TEST_TOKEN="+token, "PORTICO_TEST_REVOKED="+revoked)
}
