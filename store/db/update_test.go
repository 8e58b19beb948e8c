package db_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/storetest/dbtest"
)

// TestLostConnectionIsRetried: a write whose connection is lost runs again on another one,
// whether the current or a later statement reports the loss. If connections keep failing, the
// write returns UNAVAILABLE.
func TestLostConnectionIsRetried(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		if backend.Name != "postgres" {
			t.Skip("a file has no connections to lose")
		}
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Log: slog.New(slog.DiscardHandler), Timeouts: store.Timeouts{Connection: time.Minute}})
		require.NoError(t, err)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{Changed: func(db.Topic) {}}))
		t.Cleanup(func() { _ = d.Close() })
		const end, next = `SELECT pg_terminate_backend(pg_backend_pid())`, `UPDATE store_meta SET value = value`
		for name, write := range map[string]func(context.Context, *db.Tx) error{
			"by the statement itself": func(ctx context.Context, t *db.Tx) error {
				_, err := t.Exec(ctx, end)
				return err
			},
			"by the next": func(ctx context.Context, t *db.Tx) error {
				_, _ = t.Exec(ctx, end)
				_, err := t.Exec(ctx, next)
				return err
			},
			"by a query": func(ctx context.Context, t *db.Tx) error {
				_, _ = t.Exec(ctx, end)
				_, _, err := db.One(ctx, t.Session, db.Scalar[string], `SELECT value FROM store_meta`)
				return err
			},
		} {
			tries := 0
			require.NoError(t, d.Update(t.Context(), "test", func(ctx context.Context, t *db.Tx) error {
				if tries++; tries == 1 {
					return write(ctx, t)
				}
				_, err := t.Exec(ctx, next)
				return err
			}), name)
			require.Equal(t, 2, tries, name)
			err := d.Update(t.Context(), "test", write)
			require.True(t, store.HasCode(err, store.Unavailable), "%s, again and again: %v", name, err)
		}
		for _, lost := range []error{driver.ErrBadConn, sql.ErrConnDone} {
			err := d.Update(t.Context(), "test", func(context.Context, *db.Tx) error { return fmt.Errorf("read what is there: %w", lost) })
			require.True(t, store.HasCode(err, store.Unavailable), "%v", err)
		}
	})
}

// TestFailedInsertLeavesNothing: a write whose statement fails after some rows leaves none of them, and
// fails none of the writes that are committed with it.
func TestFailedInsertLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.EachBackend(t, func(t *testing.T, backend dbtest.Backend) {
		d, err := dbtest.OpenDB(t.Context(), db.Config{URL: backend.URL(t), Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		require.NoError(t, d.Follow(t.Context(), db.Hooks{Changed: func(db.Topic) {}}))
		t.Cleanup(func() { _ = d.Close() })
		insert := func(names ...string) func(context.Context, *db.Tx) error {
			return func(ctx context.Context, t *db.Tx) error {
				rows := make([]any, 0, 2*len(names))
				for _, name := range names {
					rows = append(rows, "insert/"+name, 1)
				}
				_, err := t.Exec(ctx, db.InsertSQL("change", []string{"topic", "version"}, len(names)), rows...)
				return err
			}
		}
		var expected []string
		for round := range 3 { // the first group fails as a whole, later ones have savepoints
			group := fmt.Sprint(round)
			before, failing, after := make(chan error, 1), make(chan error, 1), make(chan error, 1)
			require.NoError(t, d.Update(t.Context(), "test", func(ctx context.Context, tx *db.Tx) error {
				for names, done := range map[string]chan error{group + "a": before, group + "b " + group + "c " + group + "b": failing, group + "d": after} {
					go func() { done <- d.Update(t.Context(), "test", insert(strings.Fields(names)...)) }()
				}
				time.Sleep(10 * time.Millisecond) // they are one group, if they are queued by now
				return insert(group)(ctx, tx)
			}))
			require.NoError(t, <-before)
			require.True(t, d.IsDuplicate(<-failing))
			require.NoError(t, <-after)
			expected = append(expected, "insert/"+group, "insert/"+group+"a", "insert/"+group+"d")
		}
		found, err := db.Collect(t.Context(), d.Reader, db.Scalar[string], `SELECT topic FROM change WHERE topic >= 'insert/' AND topic < 'insert0' ORDER BY topic`)
		require.NoError(t, err)
		require.Equal(t, expected, found)
	})
}
