package dbtest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSQLSharesConnectionPool(t *testing.T) {
	EachBackend(t, func(t *testing.T, backend Backend) {
		db := backend.SQL(t)
		require.Same(t, db, backend.SQL(t))
		require.NotSame(t, db, backend.SQLAt(t, backend.OtherURL(t)))
		t.Run("subtest", func(t *testing.T) { require.NotSame(t, db, backend.SQL(t)) })
		require.NoError(t, db.Ping(), "the outer test's pool is still open")
	})
}
