package shop_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/access"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestCopy copies a shop with all that it has from SQLite to each database and back.
func TestCopy(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		first, s := openFile(t)
		storetest.Import(t, s, storetest.ShopFile+storetest.GenerateShop(t, testkit.QuickOrFull(60, 1200), 5))
		_, err := s.Publisher.Publish(t.Context(), storetest.Actor, "main", nil)
		require.NoError(t, err)
		_, _, err = s.Access.CreateClient(t.Context(), storetest.Actor, "A till", access.Scopes())
		require.NoError(t, err)
		_, err = s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: "anvil", Action: stock.StockAllocate, Quantity: 3}})
		require.NoError(t, err)
		storetest.RunWorker(t, s)
		started, err := s.Publisher.PublishLater(t.Context(), storetest.Actor, "main", true)
		require.NoError(t, err)
		storetest.WaitForJob(t, s, started.ID)
		want := storetest.Export(t, s)
		rows := allRows(t, first)

		middle := backend.Open(t)
		tables, err := s.CopyTo(t.Context(), middle, storetest.Actor)
		require.NoError(t, err)
		require.NotZero(t, tables["release"])
		middle = backend.Open(t)
		storetest.RequireSameLines(t, want, storetest.Export(t, middle))

		_, err = s.CopyTo(t.Context(), middle, storetest.Actor)
		storetest.RequireError(t, err, store.Unprocessable, "", "has rows", "new, empty database")
		storetest.RequireSameLines(t, want, storetest.Export(t, middle))

		last, again := openFile(t)
		_, err = middle.CopyTo(t.Context(), again, storetest.Actor)
		require.NoError(t, err)
		storetest.RequireSameLines(t, rows, allRows(t, last))
	})
}

// openFile opens a new SQLite database.
func openFile(t *testing.T) (name string, s *shop.Store) {
	t.Helper()
	name = "file:" + filepath.Join(t.TempDir(), "shop.db")
	s, err := shop.Open(t.Context(), shop.Config{URL: name, Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return name, s
}

// allRows returns every row of every table of a SQLite database, a line each, but for the migrator's and
// the leases of sweeps, which change by themselves.
func allRows(t *testing.T, name string) string {
	t.Helper()
	d, err := sql.Open("sqlite", name)
	require.NoError(t, err)
	defer d.Close()
	lines := []string{}
	for _, table := range dbtest.Texts(t, d, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name NOT IN ('goose_db_version', 'sweep')`) {
		columns := dbtest.Texts(t, d, `SELECT 'quote(' || name || ')' FROM pragma_table_xinfo('`+table+`')`)
		for _, row := range dbtest.Texts(t, d, `SELECT `+strings.Join(columns, ` || ' ' || `)+` FROM `+table) {
			lines = append(lines, fmt.Sprintf("%s %s", table, row))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
