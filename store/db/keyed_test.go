package db_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/storetest/dbtest"
)

// TestKeyedQueries: a query by keys does not begin when its context has ended. When it ends between two
// rows, SQLite reads all of them.
func TestKeyedQueries(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t)})
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		const query = `SELECT n FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) AS numbers ORDER BY n`
		list, err := db.Collect(t.Context(), d.Reader.Keyed(), db.Scalar[int], query)
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3}, list)

		ended, end := context.WithCancel(t.Context())
		end()
		_, err = db.Collect(ended, d.Reader.Keyed(), db.Scalar[int], query)
		require.ErrorIs(t, err, context.Canceled)
		_, plain := db.Collect(ended, d.Reader, db.Scalar[int], query)
		require.ErrorIs(t, plain, context.Canceled)

		if backend.Name != "sqlite" {
			return
		}
		ending, end := context.WithCancel(t.Context())
		list, err = db.Collect(ending, d.Reader.Keyed(), func(rows *sql.Rows) (int, error) {
			end()
			return db.Scalar[int](rows)
		}, query)
		require.NoError(t, err)
		require.Equal(t, []int{1, 2, 3}, list)
	})
}
