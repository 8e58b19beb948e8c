package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/storetest"
)

// TestCheckpoints: a long write-ahead log is copied into the file beside the writer, which then begins it again.
// While somebody reads an older state it only grows.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		if backend.Name != "sqlite" {
			t.Skip("applies only to SQLite")
		}
		d, err := db.Open(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF"})
		require.NoError(t, err)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		write := func(rows int) {
			require.NoError(t, d.Update(t.Context(), "", func(ctx context.Context, tx *db.Tx) error {
				for range rows {
					if _, err := tx.Exec(ctx, `INSERT INTO file (id, body) VALUES ($1, $2)`, store.NewID(), strings.Repeat("x", 4000)); err != nil {
						return err
					}
				}
				return nil
			}))
		}
		pages := func() (pages int) {
			var busy, copied int
			require.NoError(t, backend.SQL(t).QueryRow(`PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &pages, &copied))
			return pages
		}
		restarted := func() bool { write(1); return pages() < db.CheckpointPages }
		write(1)
		require.Less(t, pages(), db.CheckpointPages/2, "copied while it is short")
		for round := range 3 {
			write(db.CheckpointPages + 100)
			storetest.Eventually(t, true, restarted, fmt.Sprint("round ", round))
		}
		require.NoError(t, d.Snapshot(t.Context(), func(in db.Session) error {
			count := func() int {
				n, _, err := db.One(t.Context(), in, db.Scalar[int], `SELECT COUNT(*) FROM file`)
				require.NoError(t, err)
				return n
			}
			before := count()
			for range 3 {
				write(db.CheckpointPages / 2)
			}
			require.Greater(t, pages(), db.CheckpointPages, "the log of a state that is read")
			require.Equal(t, before, count())
			return nil
		}))
		storetest.Eventually(t, true, restarted, "the reader has ended")
	})
}
