package db_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/storetest/dbtest"
)

// TestVisit: each row of a query is visited once, several queries at a time. The error or panic of a visit
// ends its query alone.
func TestVisit(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t)})
		require.NoError(t, err)
		defer d.Close()
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		column := map[bool]string{true: "CAST('body' AS BLOB)", false: "CAST('body' AS BYTEA)"}[backend.Name == "sqlite"]
		query := `SELECT n AS key, ` + column + ` AS body FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) AS numbers WHERE n >= $1`
		visited := func(ctx context.Context, from int, fail func(key int64) error) (keys []int64, err error) {
			return keys, db.Visit(ctx, d.Reader, func(key int64, body []byte) error {
				if string(body) != "body" {
					return fmt.Errorf("the body is %q", body)
				}
				keys = append(keys, key)
				return fail(key)
			}, query, from)
		}
		none := func(int64) error { return nil }
		keys, err := visited(t.Context(), 2, none)
		require.NoError(t, err)
		require.ElementsMatch(t, []int64{2, 3}, keys)

		failure := errors.New("damaged")
		_, err = visited(t.Context(), 1, func(int64) error { return failure })
		require.ErrorIs(t, err, failure)
		require.PanicsWithValue(t, "a bug", func() { _, _ = visited(t.Context(), 1, func(int64) error { panic("a bug") }) })
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = visited(ended, 1, none)
		require.ErrorIs(t, err, context.Canceled)

		var reads sync.WaitGroup
		for i := range 20 {
			reads.Go(func() {
				keys, err := visited(t.Context(), 1+i%3, none)
				if err != nil || len(keys) != 3-i%3 {
					t.Error(keys, err)
				}
			})
		}
		reads.Wait()
	})
}
