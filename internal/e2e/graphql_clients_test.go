package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// frontEnds maps the tests of GraphQL clients to a package that each needs.
var frontEnds = map[string]string{
	"apollo.test.js":  "@apollo/client",
	"urql.test.js":    "@urql/exchange-graphcache",
	"relay.test.js":   "relay-runtime",
	"request.test.js": "graphql-request",
	"typed.test.js":   "@graphql-codegen/client-preset",
}

// TestGraphQLClients runs the tests in internal/e2e/clients: each client shows exactly what the server
// returned.
func TestGraphQLClients(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "each client starts a server and a Node")
	const folder = "internal/e2e/clients"
	if _, err := exec.LookPath("node"); err != nil {
		testkit.SkipMissing(t, "node", "Node 20.10 or newer runs the front ends' clients")
	}
	for _, name := range frontEnds {
		if _, err := os.Stat(filepath.Join(folder, "node_modules", name)); err != nil {
			testkit.SkipMissing(t, "node", "the front ends' clients are not installed; run: npm ci --ignore-scripts --prefix "+folder)
		}
	}
	for file := range frontEnds {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			server := startServer(t, "--demo") // the tests change its stock
			runNode(t, folder, file, "PORTICO_TEST_URL="+server.url, "PORTICO_TEST_TOKEN="+demoToken(t, server))
		})
	}
}

// TestGraphQLClientSetups requires that docs/frontend.md shows the setups that the tests run.
func TestGraphQLClientSetups(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("docs/frontend.md")
	require.NoError(t, err)
	for _, name := range []string{"apollo", "urql", "relay"} {
		setup, err := os.ReadFile("internal/e2e/clients/setup/" + name + ".js")
		require.NoError(t, err)
		require.Contains(t, string(page), "```js\n"+strings.Replace(string(setup), "'../../../../examples/cache.json'", "'./cache.json'", 1)+"```\n", name)
	}
}

// TestGenqlient runs the tests of the genqlient client, which is a module of its own.
func TestGenqlient(t *testing.T) {
	t.Parallel()
	testkit.FullTestsOnly(t, "generates and compiles a client")
	const folder = "internal/e2e/clients/genqlient"
	command := func(args ...string) *exec.Cmd {
		tool := exec.CommandContext(t.Context(), "go", args...)
		tool.Dir = folder
		tool.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=")
		return tool
	}
	if out, err := command("list", "-deps", "-test", "./...").CombinedOutput(); err != nil {
		testkit.SkipMissing(t, "genqlient", "its module is not there; run: go mod download -C "+folder+"\n"+string(out))
	}
	server := startServer(t, "--demo")
	test := command("test", "-count=1", "./...")
	test.Env = append(test.Env, "PORTICO_TEST_URL="+server.url, "PORTICO_TEST_TOKEN="+demoToken(t, server))
	out, err := test.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
