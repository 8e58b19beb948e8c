package release_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/release/segment"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// formatSum is the hash of a release of the format formatOfSum in the database.
// If the hash changes, raise ReleaseFormat: served releases are then published
// again.
const (
	formatOfSum = 2
	formatSum   = "3a0029c2749b7054f1265d3343ecac5775c7d97138c0aa1d50f92fe526d625a8"
)

func TestFormatOfReleases(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		if backend.Name != "sqlite" {
			t.Skip("both databases get the same rows")
		}
		clock := testkit.NewClock(time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC))
		s := backend.Open(t, storetest.WithClock(clock))
		_, err := s.Exchange.Import(t.Context(), "test", func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader(strings.Join(storetest.ShopLines(), "\n"))), nil
		}, exchange.ImportOptions{})
		require.NoError(t, err)
		_, err = s.Publisher.Publish(t.Context(), "test", "main", nil)
		require.NoError(t, err)
		sum, db := sha256.New(), backend.SQL(t)
		for _, table := range segment.Tables {
			if table.Name == "release_block" {
				continue // TestBlockLayout: compressed bytes depend on the library
			}
			order := "release_id, " + table.Key
			if table.Key == "id" {
				order = table.Key
			}
			addRows(t, sum, db, fmt.Sprintf("SELECT * FROM %s ORDER BY %s", table.Name, order))
		}
		require.Equal(t, [2]any{formatOfSum, formatSum}, [2]any{segment.ReleaseFormat, hex.EncodeToString(sum.Sum(nil))},
			"the layout of a release changed: raise ReleaseFormat and update both here. Update the sum alone if only the test shop changed.")
	})
}

// addRows adds the rows of a query to a hash.
func addRows(t *testing.T, sum hash.Hash, db *sql.DB, query string) {
	t.Helper()
	rows, err := db.Query(query)
	require.NoError(t, err)
	defer rows.Close()
	columns, err := rows.Columns()
	require.NoError(t, err)
	fmt.Fprintln(sum, columns)
	for rows.Next() {
		values, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			places[i] = &values[i]
		}
		require.NoError(t, rows.Scan(places...))
		fmt.Fprintf(sum, "%v\n", values)
	}
	require.NoError(t, rows.Err())
}
