package e2e

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestJSONOutput runs each command with --json: standard output is one JSON value
// with the members of the example in its help.
func TestJSONOutput(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	folder := filepath.Dir(path)
	checked := map[string]bool{}
	helps := map[string]string{}
	help := func(name string) string {
		if helps[name] == "" {
			helps[name] = mustRun(t, append(strings.Fields(name), "--help")...)
		}
		return helps[name]
	}
	// result runs a command and returns its standard output. args begin with its name.
	result := func(words int, args ...string) any {
		name := strings.Join(args[:words], " ")
		example := regexp.MustCompile(`(?ms)^    ([\[{].*?^    [\]}])$`).FindStringSubmatch(help(name))
		require.NotNil(t, example, "the help of %s lacks an example of --json", name)
		var documented, printed any
		require.NoError(t, json.Unmarshal([]byte(example[1]), &documented))
		decoder := json.NewDecoder(strings.NewReader(mustRun(t, append(args, "--json")...)))
		require.NoError(t, decoder.Decode(&printed), name)
		require.False(t, decoder.More(), name)
		require.Equal(t, members(documented), members(printed), name)
		checked[name] = true
		return printed
	}
	with := func(args ...string) []string { return append(args, flags...) }

	result(1, "version")
	result(1, "config")
	result(1, with("migrate")...)
	imported := result(1, with("import", demoShop)...).(map[string]any)
	require.EqualValues(t, 25, imported["resources"].(map[string]any)["product"])
	require.Equal(t, map[string]any{"catalog": "catalog-coffee", "release": 1.0, "products": 24.0, "state": "published"},
		imported["published"].([]any)[0])
	require.Equal(t, "unchanged", result(1, with("publish")...).([]any)[0].(map[string]any)["state"])
	require.Equal(t, "served", result(2, with("release", "list")...).([]any)[0].(map[string]any)["state"])
	changed := filepath.Join(folder, "changed.ndjson")
	require.NoError(t, os.WriteFile(changed, []byte(`{"type":"hierarchy","id":"hierarchy-shop","attributes":{"name":"Store"}}`), 0o600))
	mustRun(t, with("import", changed)...)
	require.Equal(t, "held", result(2, with("release", "rollback", "catalog-coffee")...).(map[string]any)["state"])
	result(2, with("release", "serve", "2")...)
	require.EqualValues(t, 1, result(2, with("release", "diff", "1", "2")...).(map[string]any)["total"])
	require.Equal(t, "winter", result(2, with("release", "label", "2", "--label", "winter")...).(map[string]any)["label"])
	require.Equal(t, true, result(2, with("release", "hold", "2")...).(map[string]any)["retained"])
	require.Equal(t, false, result(2, with("release", "unhold", "2")...).(map[string]any)["retained"])
	require.Equal(t, "command:import", result(2, with("release", "show", "2")...).(map[string]any)["actor"])
	result(1, with("audit", "--kind", "hierarchy")...)
	require.Empty(t, result(1, with("doctor")...).(map[string]any)["findings"])
	require.NotZero(t, result(1, with("export", filepath.Join(folder, "shop.ndjson"))...).(map[string]any)["count"])
	require.EqualValues(t, 5, result(2, with("codes", "generate", "--promotion", "promo-early-bird", "--count",
		"5")...).(map[string]any)["count"])
	result(2, with("codes", "export", "--promotion", "promo-early-bird", filepath.Join(folder, "codes.csv"))...)
	id := result(2, with("client", "create", "--name", "x", "--all-scopes")...).(map[string]any)["client_id"].(string)
	result(2, with("client", "rotate", id)...)
	result(2, with("client", "list")...)
	require.Equal(t, id, result(2, with("client", "revoke", id)...).(map[string]any)["id"])
	result(2, with("keys", "rotate")...)
	result(2, with("keys", "list")...)
	result(1, with("rekey")...)
	result(1, with("copy", "--to", "file:"+filepath.Join(folder, "copy.db"))...)
	backup := filepath.Join(folder, "shop.backup")
	result(1, with("backup", backup)...)
	result(1, "restore", backup, "--database-url", "file:"+filepath.Join(folder, "restored.db"))
	s := startServer(t, "--demo", "--admin-addr", "127.0.0.1:0")
	result(1, "health", "--addr", strings.TrimPrefix(s.url, "http://"))

	for _, command := range regexp.MustCompile(`(?m)^  ([a-z]+(?: [a-z]+)?)  `).FindAllStringSubmatch(mustRun(t, "--help"), -1) {
		if strings.Contains(help(command[1]), "--json") {
			require.True(t, checked[command[1]], "%s --json is not tested", command[1])
		}
	}

	code, stdout, stderr := portico(t, with("export", "-", "--json")...)
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "--json needs a file")
	code, stdout, stderr = portico(t, with("client", "revoke", "nobody", "--json")...)
	require.Equal(t, 1, code)
	require.Empty(t, stdout, "errors go to standard error")
	require.NotEmpty(t, stderr)
}

// members returns the member names of an object, or of the first object of a list.
func members(value any) []string {
	switch v := value.(type) {
	case []any:
		return members(v[0])
	case map[string]any:
		return slices.Sorted(maps.Keys(v))
	}
	return nil
}
