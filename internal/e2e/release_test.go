package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// TestReleaseCommands rolls a catalog back and forth beside a running server.
func TestReleaseCommands(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	with := func(args ...string) []string { return append(args, flags...) }
	mustRun(t, with("import", demoShop)...)
	id, secret := newClient(t, flags)
	s := startServer(t, flags...)
	_, token := s.login(t, id, secret)
	name := func() string {
		_, body := s.send(t, "GET", "/catalog/nodes/node-coffee", "", "Authorization", "Bearer "+token)
		return body
	}
	require.Contains(t, name(), `"name":"Coffee"`)

	code, _, stderr := portico(t, with("release", "rollback", "catalog-coffee")...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "no release of catalog-coffee before 1 is kept")

	shop, err := os.ReadFile(demoShop)
	require.NoError(t, err)
	changed := filepath.Join(filepath.Dir(path), "changed.ndjson")
	require.NoError(t, os.WriteFile(changed, []byte(strings.ReplaceAll(string(shop), `"name":"Coffee"`, `"name":"Kaffee"`)), 0o600))
	mustRun(t, with("import", changed)...)
	storetest.Eventually(t, true, func() bool { return strings.Contains(name(), `"name":"Kaffee"`) })
	require.Regexp(t, `(?s)CATALOG .*catalog-coffee +2 +served .*catalog-coffee +1 +kept `, mustRun(t, with("release", "list")...))

	require.Equal(t, "catalog-coffee serves release 1, and imports leave it there. End that with: portico publish catalog-coffee\n",
		mustRun(t, with("release", "rollback", "catalog-coffee")...))
	storetest.Eventually(t, true, func() bool { return strings.Contains(name(), `"name":"Coffee"`) })
	require.Regexp(t, `(?s)catalog-coffee +2 +kept .*catalog-coffee +1 +held `, mustRun(t, with("release", "list", "catalog-coffee")...))

	require.Equal(t, "catalog-coffee serves release 2\n", mustRun(t, with("release", "serve", "2")...))
	storetest.Eventually(t, true, func() bool { return strings.Contains(name(), `"name":"Kaffee"`) })

	for args, words := range map[string]string{
		"release serve 9":         `release "9" is not kept. portico release list shows those that are`,
		"release serve newest":    `release "newest" is not kept`,
		"release list nothing":    `catalog "nothing" does not exist. Catalogs: catalog-coffee`,
		"release rollback nobody": `catalog "nobody" does not exist`,
	} {
		code, stdout, stderr := portico(t, with(strings.Fields(args)...)...)
		require.Equal(t, 1, code, args)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, words)
	}
}
