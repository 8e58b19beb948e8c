package storetest

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
)

// failingT records a failure in place of ending the test.
type failingT struct{ failed bool }

func (t *failingT) Errorf(string, ...any) { t.failed = true }

func (t *failingT) FailNow() { t.failed = true }

// TestChecksRequireOneThatRuns requires a failure if no check has the wanted rule.
func TestChecksRequireOneThatRuns(t *testing.T) {
	EachBackend(t, func(t *testing.T, backend Backend) {
		checks := []db.Check{{Rule: "No store has two rows.", Broken: "SELECT 1 WHERE 1 = 0"}, {Rule: "Broken.", Broken: "SELECT 1"}}
		fails := func(from *sql.DB, rule string) bool {
			recorded := &failingT{}
			requireChecks(recorded, from, checks, func(r string) bool { return r == rule })
			return recorded.failed
		}
		database := backend.SQL(t)
		require.False(t, fails(database, "No store has two rows."))
		require.True(t, fails(database, "Broken."))
		require.True(t, fails(database, "Renamed."))
	})
}
