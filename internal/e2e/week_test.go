package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestWeekOnPostgreSQL runs docs/week.md on PostgreSQL, from which its last day copies to SQLite. The other tests of the
// documentation run it on SQLite.
func TestWeekOnPostgreSQL(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("docs/week.md")
	require.NoError(t, err)
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		if e.Name == "sqlite" {
			return
		}
		testkit.FullTestsOnly(t, "the quick tests run the page on SQLite")
		key := filepath.Join(t.TempDir(), "key")
		require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("A", 43)+"=\n"), 0o600))
		page := strings.NewReplacer("SHOP=file:week.db", "SHOP='"+e.URL(t)+"'", "portico serve ", "portico serve --key-file "+key+" ").Replace(string(text))
		require.NotContains(t, page, "week.db")
		run := &documentRun{}
		for _, block := range documentBlocks(page) {
			answer := run.shell(t, block.text)
			if block.hasAnswer {
				requireAnswer(t, block, answer)
			}
		}
	})
}
