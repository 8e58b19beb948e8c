package stock_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestStockCache runs the stock tests with stock in memory. Reads then run no SQL statements, a
// server sees its own writes at once and those of others within a second.
func TestStockCache(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		testStockList(t, backend.WithStockCache())
		if testkit.FullTests() {
			testTransactStock(t, backend.WithStockCache())
		} else {
			t.Run("random batches match the model", stockModel(backend.WithStockCache()))
		}
		t.Run("reads run no SQL statements", stockCacheStatements(backend.WithStockCache()))
		t.Run("a server sees its own write at once", stockCacheOwnWrites(backend.WithStockCache()))
		t.Run("a server sees another server's write soon", stockCacheOtherServers(backend.WithStockCache()))
		t.Run("a server sees an import soon", stockCacheImport(backend.WithStockCache()))
		t.Run("the cache recovers when the change log is swept or restored", stockCacheRecovery(backend.WithStockCache()))
		t.Run("reads fail while the database is being restored", stockCacheRestored(backend.WithStockCache()))
		t.Run("stock beyond the budget is read from the database", stockCacheOverBudget(backend))
		t.Run("exceeding the budget is logged once, and so is fitting again", stockCacheBudget(backend))
	})
}

func stockCacheStatements(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1, "a", "b", "c")
		for name, read := range map[string]func(context.Context) error{
			"one":     func(ctx context.Context) error { _, err := s.Stock.Get(ctx, "b"); return err },
			"several": func(ctx context.Context) error { _, err := s.Stock.ByID(ctx, []string{"b", "c"}); return err },
			"a page": func(ctx context.Context) error {
				slice, err := s.Stock.List(ctx, store.ListQuery{})
				require.NoError(t, err)
				_, err = slice.Total(ctx)
				return err
			},
			"times": func(ctx context.Context) error { _, _, err := s.Stock.Times(ctx); return err },
		} {
			testkit.Eventually(t, true, func() bool { return storetest.CountStatements(t, read) == 0 }, name)
		}
	}
}

func stockCacheOwnWrites(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		for i := range 50 {
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
			require.Equal(t, i+1, storetest.Available(t, s, "a"))
			made, err := s.Stock.Create(t.Context(), storetest.Actor, fmt.Sprintf("n%d", i), i)
			require.NoError(t, err)
			require.Equal(t, made, storetest.ReadStock(t, s, made.ProductID))
			slice, err := s.Stock.List(t.Context(), store.ListQuery{})
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, i+2, total)
		}
	}
}

func stockCacheOtherServers(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		other := backend.Open(t)
		for i := range testkit.QuickOrFull(3, 30) {
			require.NoError(t, storetest.Increment(t.Context(), other, "a"))
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
			want := 2 * (i + 1)
			require.Equal(t, want, storetest.Available(t, s, "a"), "the last writer sees all earlier writes")
			testkit.Eventually(t, want, func() int { return storetest.Available(t, other, "a") })
		}
		_, err := other.Stock.Create(t.Context(), storetest.Actor, "b", 7)
		require.NoError(t, err)
		testkit.Eventually(t, 7, func() int {
			if stock, err := s.Stock.Get(t.Context(), "b"); err == nil {
				return stock.Available
			}
			return -1
		})
	}
}

func stockCacheImport(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 5, "a", "b")
		other := backend.Open(t)
		_, err := other.Exchange.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"stock","id":"a","available":1,"allocated":2,"total":3}
{"type":"stock","id":"c","available":9,"allocated":0,"total":9}`), exchange.ImportOptions{Stock: true})
		require.NoError(t, err)
		require.Equal(t, 1, storetest.Available(t, other, "a"), "the importing server sees it at once")
		testkit.Eventually(t, 1, func() int { return storetest.Available(t, s, "a") })
		testkit.Eventually(t, 9, func() int { return storetest.Available(t, s, "c") })
	}
}

func stockCacheRecovery(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := storetest.OpenWithStock(t, backend, 0, "a"), backend.SQL(t)
		other := backend.Open(t)
		require.NoError(t, storetest.Increment(t.Context(), other, "a"))
		testkit.Eventually(t, 1, func() int { return storetest.Available(t, s, "a") })
		lanes := ` WHERE topic LIKE 'stock/%'`
		for i, happens := range [][]string{
			{`UPDATE change SET version = version + 1` + lanes}, // the change was swept
			{`INSERT INTO stock_change (lane, version, follows, products) SELECT topic, version + 1, version, '*' FROM change` + lanes, `UPDATE change SET version = version + 1` + lanes}, // too many products to list
			{`DELETE FROM stock_change`, `UPDATE change SET version = version - 1` + lanes},                                                                                                // a backup was restored
			{ // a failover lost the last write, and another server wrote since
				`DELETE FROM stock_change`,
				`INSERT INTO stock_change (lane, version, follows, products) SELECT topic, version + 1000, version - 1, 'b' FROM change` + lanes,
				`UPDATE change SET version = version + 1000, follows = version - 1` + lanes,
			},
			{`DELETE FROM stock_change`, `DELETE FROM change` + lanes}, // a backup without stock was restored
		} {
			storetest.RefreshStock(t, s)
			storetest.Transact(t, db, func(run func(query string, args ...any)) {
				run(`UPDATE stock SET available = $1`, 10+i)
				for _, query := range happens {
					run(query)
				}
			})
			testkit.Eventually(t, 10+i, func() int {
				stock, err := s.Stock.Get(t.Context(), "a")
				if err != nil { // until the cache is valid again
					storetest.RequireError(t, err, store.Unavailable, "", "being replaced or restored")
					return -1
				}
				return stock.Available
			})
		}
	}
}

func stockCacheOverBudget(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.OpenWithStock(t, backend, 3, "a", "b")
		s := backend.Open(t, func(config *shop.Config) { config.StockBytes = 1 })
		storetest.RefreshStock(t, s)
		one := func(ctx context.Context) error { _, err := s.Stock.Get(ctx, "b"); return err }
		require.Equal(t, 1, storetest.CountStatements(t, one))
		require.NoError(t, storetest.Increment(t.Context(), s, "b"))
		require.Equal(t, 4, storetest.Available(t, s, "b"))
	}
}

// stockCacheBudget moves the stock beyond its memory budget and back.
func stockCacheBudget(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var log testkit.LogBuffer
		s := backend.Open(t, func(config *shop.Config) {
			config.StockBytes = 66_000 // one block of IDs and eight records
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		told := func(text string) int { return strings.Count(log.String(), text) }
		for i := range 20 {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, fmt.Sprint("p", i), 1)
			require.NoError(t, err)
		}
		testkit.Eventually(t, true, func() bool { return s.Stock.CacheStats().OverBudget })
		storetest.RefreshStock(t, s)
		storetest.RefreshStock(t, s)
		require.Equal(t, 1, told("exceeds --stock-cache-bytes"), "once: %s", log.String())
		require.Zero(t, s.Stock.CacheStats().Records)
		storetest.ClearStock(t, backend.SQL(t))
		storetest.RefreshStock(t, s)
		require.False(t, s.Stock.CacheStats().OverBudget)
		require.Equal(t, 1, told("fits --stock-cache-bytes again"))
		_, err := s.Stock.Create(t.Context(), storetest.Actor, "q", 1)
		require.NoError(t, err)
		require.Equal(t, 1, s.Stock.CacheStats().Records, "the cache holds all stock again")
	}
}

// stockCacheRestored empties the tables and fills them again one after the other, as a restore
// does.
func stockCacheRestored(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := storetest.OpenWithStock(t, backend, 5, "a"), backend.SQL(t)
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		run := func(query string) {
			t.Helper()
			_, err := db.Exec(query)
			require.NoError(t, err)
		}
		watcher, err := s.Stock.Watch(t.Context(), []string{"a"})
		require.NoError(t, err)
		t.Cleanup(watcher.Close)
		_, took := watcher.Newest()
		took()
		for _, query := range []string{`CREATE TABLE kept AS SELECT * FROM stock`, `CREATE TABLE kept_change AS SELECT * FROM change`,
			`UPDATE kept SET available = 5, revision = 0`, `UPDATE kept_change SET version = 1`, `DELETE FROM change`, `DELETE FROM stock_change`, `DELETE FROM stock`} {
			run(query)
		}
		in503 := func() bool {
			_, err := s.Stock.Get(t.Context(), "a")
			return store.HasCode(err, store.Unavailable)
		}
		testkit.Eventually(t, true, in503)
		storetest.RequireError(t, s.Ping(t.Context()), store.Unavailable, "", "being replaced or restored")
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "being replaced or restored")
		_, err = s.Settings.Get(t.Context())
		storetest.RequireError(t, err, store.Unavailable, "", "being replaced or restored")
		run(`INSERT INTO change SELECT * FROM kept_change`)
		for range 20 { // longer than the polling interval
			require.True(t, in503(), "the stock is not restored yet")
			time.Sleep(100 * time.Millisecond)
		}
		run(`INSERT INTO stock SELECT * FROM kept`)
		testkit.Eventually(t, 5, func() int {
			stock, err := s.Stock.Get(t.Context(), "a")
			if err != nil {
				storetest.RequireError(t, err, store.Unavailable, "")
				return -1
			}
			return stock.Available
		})
		require.NoError(t, s.Ping(t.Context()))
		testkit.Eventually(t, 5, func() int {
			if stock, _ := watcher.Newest(); stock != nil {
				return stock.Available
			}
			return -1
		}, "who watches is told, though the revision is lower")
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		require.Equal(t, 6, storetest.Available(t, s, "a"))
		run(`DROP TABLE kept`)
		run(`DROP TABLE kept_change`)
	}
}
