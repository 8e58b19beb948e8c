package shop_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// fileReplaced replaces the file of an open store. No acknowledged write is lost, and the store
// returns nothing more.
func fileReplaced(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		if backend.Name != "sqlite" {
			t.Skip("applies only to SQLite")
		}
		s := storetest.OpenWithStock(t, backend, 0, "a")
		path, _ := shop.SQLiteFile(backend.URL(t))
		other, _ := shop.SQLiteFile(backend.OtherURL(t))
		require.NoError(t, backend.SQL(t).Close()) // it would keep the old file open
		former := filepath.Join(t.TempDir(), "former.db")
		made := 0
		for ; made < 5; made++ {
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		}
		require.NoError(t, os.Rename(path, former))
		require.NoError(t, os.Rename(other, path))
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "must be restarted") // before any poll
		require.ErrorContains(t, s.Ping(t.Context()), "moved, replaced or overwritten")
		testkit.Eventually(t, true, func() bool {
			_, err := s.Stock.List(t.Context(), store.ListQuery{})
			return store.HasCode(err, store.Unavailable)
		})
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "must be restarted")
		testkit.Eventually(t, 0, func() int64 { return sizeOf(t, path+"-wal") }, "the log is of the former file")
		require.NoError(t, s.Close())

		again, err := shop.Open(t.Context(), shop.Config{URL: backend.URL(t)})
		require.NoError(t, err)
		stocks, err := again.Stock.List(t.Context(), store.ListQuery{})
		require.NoError(t, err)
		require.Empty(t, stocks.Items, "the other file is unchanged")
		require.NoError(t, again.Close())
		before, err := shop.Open(t.Context(), shop.Config{URL: "file:" + former})
		require.NoError(t, err)
		t.Cleanup(func() { before.Close() })
		require.GreaterOrEqual(t, storetest.Available(t, before, "a"), made, "acknowledged writes are in the former file")
	}
}

// fileReplacedBeforeClose closes the store before it can notice that its file was replaced.
func fileReplacedBeforeClose(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		if backend.Name != "sqlite" {
			t.Skip("applies only to SQLite")
		}
		s := storetest.OpenWithStock(t, backend, 0, "a")
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		path, _ := shop.SQLiteFile(backend.URL(t))
		other, _ := shop.SQLiteFile(backend.OtherURL(t))
		require.NoError(t, backend.SQL(t).Close()) // it would keep the old file open
		require.NoError(t, os.Rename(other, path))
		require.NoError(t, s.Close())
		db, err := sql.Open("sqlite", backend.URL(t))
		require.NoError(t, err)
		t.Cleanup(func() { db.Close() })
		var records int
		require.NoError(t, db.QueryRow(`SELECT COUNT(*) FROM stock`).Scan(&records))
		require.Zero(t, records, "the former file's WAL is not applied")
	}
}

// fileOverwritten copies an older database over the file of an open store, as cp does. The next write is refused, no log of the former
// database gets into the copy, and neither checkpoints nor another process raise a false alarm.
func fileOverwritten(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		if backend.Name != "sqlite" {
			t.Skip("applies only to SQLite")
		}
		s := storetest.OpenWithStock(t, backend, 0, "a")
		path, _ := shop.SQLiteFile(backend.URL(t))
		backup := filepath.Join(t.TempDir(), "old.db")
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		require.NoError(t, shop.Backup(t.Context(), backend.URL(t), backup))
		old, err := os.ReadFile(backup)
		require.NoError(t, err)
		other := backend.SQL(t)
		for i := range 20 { // of either process, with and without a checkpoint
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
			_, err := other.Exec(`CREATE TABLE other` + fmt.Sprint(i) + ` (id INTEGER)`)
			require.NoError(t, err)
			if i%3 == 0 {
				_, err = other.Exec(`PRAGMA wal_checkpoint(PASSIVE)`)
				require.NoError(t, err)
			}
		}
		require.NoError(t, s.Ping(t.Context()))
		require.NoError(t, other.Close())
		require.NoError(t, os.WriteFile(path, old, 0o600))
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "must be restarted") // before any poll
		require.ErrorContains(t, s.Ping(t.Context()), "overwritten")
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "must be restarted")
		testkit.Eventually(t, 0, func() int64 { return sizeOf(t, path+"-wal") }, "the log is of the former database")
		require.Positive(t, sizeOf(t, path+"-wal.old"))
		require.NoError(t, s.Close())
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		require.True(t, bytes.Equal(old, now), "nothing was written into the copy")

		again, err := shop.Open(t.Context(), shop.Config{URL: backend.URL(t)})
		require.NoError(t, err)
		t.Cleanup(func() { again.Close() })
		require.Equal(t, 1, storetest.Available(t, again, "a"))
	}
}

func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Size()
}

// walShrinks keeps a read transaction open while the WAL grows beyond its limit.
func walShrinks(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		if backend.Name != "sqlite" {
			t.Skip("applies only to SQLite")
		}
		s := storetest.OpenWithStock(t, backend, 0, "a")
		path, _ := shop.SQLiteFile(backend.URL(t))
		reader, err := backend.SQL(t).Begin()
		require.NoError(t, err)
		var n int
		require.NoError(t, reader.QueryRow(`SELECT COUNT(*) FROM stock`).Scan(&n))
		var text strings.Builder
		for i := range 700 {
			fmt.Fprintf(&text, `{"type":"product","id":"p%[1]d","attributes":{"name":"P","sku":"S%[1]d","slug":"s%[1]d","status":"live","created_at":"2024-01-01T00:00:00Z","updated_at":"2024-01-01T00:00:00Z","description":"%[2]s"}}`+"\n", i, strings.Repeat("x", 60<<10))
		}
		storetest.Import(t, s, text.String())
		require.Greater(t, sizeOf(t, path+"-wal"), int64(33<<20), "the reader prevents a checkpoint")
		require.NoError(t, reader.Rollback())
		testkit.Eventually(t, true, func() bool {
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
			return sizeOf(t, path+"-wal") <= 32<<20
		})
	}
}
