package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
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
	testkit.Eventually(t, true, func() bool { return strings.Contains(name(), `"name":"Kaffee"`) })
	require.Regexp(t, `(?s)CATALOG .*catalog-coffee +2 +served .*catalog-coffee +1 +kept `, mustRun(t, with("release", "list")...))

	require.Equal(t, "catalog-coffee serves release 1, and imports leave it there. End that with: portico publish catalog-coffee\n",
		mustRun(t, with("release", "rollback", "catalog-coffee")...))
	testkit.Eventually(t, true, func() bool { return strings.Contains(name(), `"name":"Coffee"`) })
	require.Regexp(t, `(?s)catalog-coffee +2 +kept .*catalog-coffee +1 +held `, mustRun(t, with("release", "list", "catalog-coffee")...))

	require.Equal(t, "catalog-coffee serves release 2\n", mustRun(t, with("release", "serve", "2")...))
	testkit.Eventually(t, true, func() bool { return strings.Contains(name(), `"name":"Kaffee"`) })

	for args, words := range map[string]string{
		"release show 9":                            `release "9" is not kept`,
		"release hold 9":                            `release "9" is not kept`,
		"release diff 9 2":                          `the first release must be the number of a release that is kept, got "9"`,
		"publish --cancel none":                     `"none" is not a scheduled publication. portico publish --scheduled lists them`,
		"publish nothing --at 2100-01-01T00:00:00Z": `catalog "nothing" does not exist`,
		"publish --at 2000-01-01T00:00:00Z":         `at must be in the future, got 2000-01-01T00:00:00.000Z`,
		"release serve 9":                           `release "9" is not kept. portico release list shows those that are`,
		"release serve newest":                      `release "newest" is not kept`,
		"release list nothing":                      `catalog "nothing" does not exist. Catalogs: catalog-coffee`,
		"release rollback nobody":                   `catalog "nobody" does not exist`,
	} {
		code, stdout, stderr := portico(t, with(strings.Fields(args)...)...)
		require.Equal(t, 1, code, args)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, words)
	}
}

// TestScheduledPublicationCommands schedules a publication beside a running server, lists and cancels it, and lets
// another one come due.
func TestScheduledPublicationCommands(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	with := func(args ...string) []string { return append(args, flags...) }
	mustRun(t, with("import", "--no-publish", demoShop)...)
	startServer(t, flags...)
	require.Equal(t, "no publication is scheduled\n", mustRun(t, with("publish", "--scheduled")...))
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	scheduled := mustRun(t, with("publish", "--at", tomorrow, "--label", "winter")...)
	require.Contains(t, scheduled, "scheduled catalog-coffee at "+tomorrow+": job ")
	id := strings.TrimSpace(scheduled[strings.LastIndex(scheduled, " "):])
	require.Regexp(t, id+` +catalog-coffee +`+tomorrow+` +scheduled +winter +command:publish`, mustRun(t, with("publish", "--scheduled")...))
	require.Equal(t, "canceled the publication of catalog-coffee at "+tomorrow+"\n", mustRun(t, with("publish", "--cancel", id)...))
	require.Equal(t, "no publication is scheduled\n", mustRun(t, with("publish", "--scheduled")...))
	require.Regexp(t, `catalog-coffee: the next publication compared with nothing, since no release is served\nproduct: 24 added`, mustRun(t, with("publish", "--dry-run")...))
	mustRun(t, with("publish", "--at", time.Now().Add(3*time.Second).UTC().Format(time.RFC3339))...)
	testkit.Eventually(t, true, func() bool { return strings.Contains(mustRun(t, with("release", "list")...), "served") })

	for _, args := range []string{"publish --dry-run --label a", "publish --scheduled --at 2100-01-01T00:00:00Z", "publish --cancel x --dry-run", "publish --at soon", "release label 1"} {
		code, _, stderr := portico(t, with(strings.Fields(args)...)...)
		require.Equal(t, 2, code, "%s: %s", args, stderr)
	}
}
