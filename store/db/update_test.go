package db_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/db"
	"portico/store/storetest"
)

// TestLostConnectionIsRetried: a write whose connection is lost runs again on another one,
// whether the current or a later statement reports the loss. If connections keep failing, the
// write returns UNAVAILABLE.
func TestLostConnectionIsRetried(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		if backend.Name != "postgres" {
			t.Skip("a file has no connections to lose")
		}
		d, err := db.Open(t.Context(), db.Config{URL: backend.URL(t), Log: slog.New(slog.DiscardHandler), Timeouts: store.Timeouts{Connection: time.Minute}})
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
