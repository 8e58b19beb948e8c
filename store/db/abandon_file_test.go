package db

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db/drivers"
)

// openFile opens the SQLite database of Config.URL.
func openFile(t *testing.T, config Config) (*DB, error) {
	engine, err := drivers.Of(config.URL)
	require.NoError(t, err)
	config.Dialect = engine
	return Open(t.Context(), config)
}

// TestLogInUseIsReported: a write-ahead log that connections still read is not taken for an emptied one, which the new
// file of the same name may be opened with.
func TestLogInUseIsReported(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "portico.db")
	d, err := openFile(t, Config{URL: "file:" + path})
	require.NoError(t, err)
	t.Cleanup(func() { d.Close() })
	require.NoError(t, d.Follow(t.Context(), Hooks{}))
	pool, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	t.Cleanup(func() { pool.Close() })
	conn, err := pool.Conn(t.Context())
	require.NoError(t, err)
	require.NoError(t, d.TryWrite(t.Context()))
	require.NoError(t, d.Snapshot(t.Context(), func(in Session) error {
		_, _, err := One(t.Context(), in, Scalar[int], `SELECT COUNT(*) FROM store_meta`)
		require.NoError(t, err)
		require.NoError(t, d.TryWrite(t.Context()))
		require.ErrorContains(t, emptyLog(t.Context(), conn, 1), "still read it")
		return nil
	}))
	require.NoError(t, emptyLog(t.Context(), conn, checkpointTries))
}
