package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/storetest/dbtest"
	"portico/store/storetest/testkit"
)

// TestCheckpoints: a long write-ahead log is copied into the file beside the writer, which then begins it again.
// While somebody reads an older state it only grows.
func TestCheckpoints(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		if backend.Name != "sqlite" {
			t.Skip("applies only to SQLite")
		}
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF"})
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
		pages := func() int { return logPages(t, backend) }
		restarted := func() bool { write(1); return pages() < db.CheckpointPages }
		write(1)
		require.Less(t, pages(), db.CheckpointPages/2, "copied while it is short")
		for round := range 3 {
			write(db.CheckpointPages + 100)
			testkit.Eventually(t, true, restarted, fmt.Sprint("round ", round))
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
		testkit.Eventually(t, true, restarted, "the reader has ended")
	})
}

// TestSnapshotRenew: while a long read calls Renew, the write-ahead log starts again, as long as the caller
// finds the same in the present state. Then the read keeps its state.
func TestSnapshotRenew(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		const longest, batch = 400, 100 // in pages; a row fills one
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Synchronous: "OFF", LogPages: longest})
		require.NoError(t, err)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{}))
		t.Cleanup(func() { require.NoError(t, d.Close()) })
		write := func(work func(ctx context.Context, tx *db.Tx) error) {
			require.NoError(t, d.Update(t.Context(), "", work))
		}
		revision := func(ctx context.Context, in db.Session) (value int64, err error) {
			value, _, err = db.One(ctx, in, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'revision'`)
			return value, err
		}
		require.NoError(t, d.RenewableSnapshot(t.Context(), func(snapshot *db.Snapshot) error {
			in := snapshot.Session // as its users copy it
			begun, err := revision(t.Context(), in)
			require.NoError(t, err)
			fill := func() {
				write(func(ctx context.Context, tx *db.Tx) error {
					rows := make([][]any, batch)
					for i := range rows {
						rows[i] = []any{store.NewID(), strings.Repeat("x", 4000)}
					}
					return tx.InsertRows(ctx, "file", []string{"id", "body"}, rows)
				})
				require.NoError(t, snapshot.Renew(t.Context(), func(ctx context.Context, in db.Session) (bool, error) {
					now, err := revision(ctx, in)
					return now == begun, err
				}))
			}
			for range 30 {
				fill()
				require.Less(t, logPages(t, backend), 2*longest)
			}
			write(func(ctx context.Context, tx *db.Tx) error {
				_, err := tx.Exec(ctx, `UPDATE counter SET value = value + 1 WHERE name = 'revision'`)
				return err
			})
			for range 10 {
				fill()
			}
			now, err := revision(t.Context(), in)
			require.NoError(t, err)
			require.Equal(t, begun, now, "the state of the snapshot")
			return nil
		}))
	})
}

// logPages returns the length of SQLite's write-ahead log; 0 on PostgreSQL.
func logPages(t *testing.T, backend dbtest.Backend) (pages int) {
	if backend.Name == "sqlite" {
		var busy, copied int
		require.NoError(t, backend.SQL(t).QueryRow(`PRAGMA wal_checkpoint(NOOP)`).Scan(&busy, &pages, &copied))
	}
	return pages
}
