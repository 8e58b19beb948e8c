package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/stock"
)

// TestImportKeepsRuntimeChanges requires that an import keeps stock and settings, and that the
// summary names the flags to overwrite them.
func TestImportKeepsRuntimeChanges(t *testing.T) {
	t.Parallel()
	flags, path := database(t)
	with := func(args ...string) []string { return append(args, flags...) }
	require.NotContains(t, mustRun(t, with("import", demoShop)...), "left")
	writer := openFixture(t, "file:"+path)
	_, err := writer.Stock.Transact(t.Context(), "test", []stock.Change{{ProductID: "prod-flat-white", Action: stock.StockAllocate,
		Quantity: 2}})
	require.NoError(t, err)
	renamed := filepath.Join(t.TempDir(), "renamed.ndjson")
	shop, err := os.ReadFile(demoShop)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(renamed, []byte(strings.ReplaceAll(string(shop), "Flat White", "Flat Black")), 0o600))

	answer := mustRun(t, with("import", renamed)...)
	require.Contains(t, answer, "kept existing: 1 stock; overwrite them with --stock\n")
	require.Contains(t, answer, "published catalog-coffee: release 2,")
	_, err = writer.Releases.Serve(t.Context(), "test", "1")
	require.NoError(t, err)
	answer = mustRun(t, with("import", renamed)...)
	require.Contains(t, answer, "held catalog-coffee: release 1, rolled back from release 2; publish it with: portico publish catalog-coffee\n")
	require.NotContains(t, answer, "published")
	answer = mustRun(t, with("import", "--publish", os.DevNull)...)
	require.Contains(t, answer, "published catalog-coffee: release ")
	require.NotContains(t, answer, "held")
	_, err = writer.Releases.Serve(t.Context(), "test", "1")
	require.NoError(t, err)
	require.NotContains(t, mustRun(t, with("publish")...), "held", "an explicit publish ends the hold")
	require.NotContains(t, mustRun(t, with("import", "--stock", demoShop)...), "left")
	code, _, stderr := portico(t, with("import", "--publish", "--no-publish", demoShop)...)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "--publish and --no-publish exclude each other")
}
