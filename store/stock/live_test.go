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
)

// TestStockCache is the promise of stock in memory: everything that holds for stock
// in the database holds for it, it costs no statement, a server shows its own
// writes at once, and those of others within a second.
func TestStockCache(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		testStockList(t, backend.WithStockCache())
		if storetest.FullTests() {
			testTransactStock(t, backend.WithStockCache())
		} else {
			t.Run("any sequence of batches does what the model does", stockModel(backend.WithStockCache()))
		}
		t.Run("reading it costs no statement", liveStatements(backend.WithStockCache()))
		t.Run("a server shows its own write at once", liveOwn(backend.WithStockCache()))
		t.Run("a server shows another's write soon", liveOthers(backend.WithStockCache()))
		t.Run("an import is shown soon", liveImport(backend.WithStockCache()))
		t.Run("what another wrote by a lane that is swept or restored is found again", liveGaps(backend.WithStockCache()))
		t.Run("nothing is read from a database that is being restored", liveRestored(backend.WithStockCache()))
		t.Run("more than there is room for is read from the database", liveBudget(backend))
		t.Run("stock that no longer fits is told of once, and comes back when it fits", liveRoom(backend))
	})
}

func liveStatements(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1, "a", "b", "c")
		for name, read := range map[string]func(context.Context) error{
			"one":     func(ctx context.Context) error { _, err := s.Stock(ctx, "b"); return err },
			"several": func(ctx context.Context) error { _, err := s.StocksByID(ctx, []string{"b", "c"}); return err },
			"a page": func(ctx context.Context) error {
				slice, err := s.Stocks(ctx, store.ListQuery{})
				require.NoError(t, err)
				_, err = slice.Total(ctx)
				return err
			},
			"times": func(ctx context.Context) error { _, _, err := s.StockTimes(ctx); return err },
		} {
			storetest.Eventually(t, true, func() bool { return storetest.CountStatements(t, read) == 0 }, name)
		}
	}
}

func liveOwn(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		for i := range 50 {
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
			require.Equal(t, i+1, storetest.Available(t, s, "a"))
			made, err := s.CreateStock(t.Context(), storetest.Actor, fmt.Sprintf("n%d", i), i)
			require.NoError(t, err)
			require.Equal(t, made, storetest.ReadStock(t, s, made.ProductID))
			slice, err := s.Stocks(t.Context(), store.ListQuery{})
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, i+2, total)
		}
	}
}

func liveOthers(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		other := backend.Open(t)
		for i := range storetest.QuickOrFull(3, 30) {
			require.NoError(t, storetest.Increment(t.Context(), other, "a"))
			require.NoError(t, storetest.Increment(t.Context(), s, "a"))
			want := 2 * (i + 1)
			require.Equal(t, want, storetest.Available(t, s, "a"), "who wrote last knows all before")
			storetest.Eventually(t, want, func() int { return storetest.Available(t, other, "a") })
		}
		_, err := other.CreateStock(t.Context(), storetest.Actor, "b", 7)
		require.NoError(t, err)
		storetest.Eventually(t, 7, func() int {
			if stock, err := s.Stock(t.Context(), "b"); err == nil {
				return stock.Available
			}
			return -1
		})
	}
}

func liveImport(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 5, "a", "b")
		other := backend.Open(t)
		_, err := other.Import(t.Context(), storetest.Actor, storetest.Source(`{"type":"stock","id":"a","available":1,"allocated":2,"total":3}
{"type":"stock","id":"c","available":9,"allocated":0,"total":9}`), exchange.ImportOptions{Stock: true})
		require.NoError(t, err)
		require.Equal(t, 1, storetest.Available(t, other, "a"), "by the one who imported, at once")
		storetest.Eventually(t, 1, func() int { return storetest.Available(t, s, "a") })
		storetest.Eventually(t, 9, func() int { return storetest.Available(t, s, "c") })
	}
}

func liveGaps(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := storetest.OpenWithStock(t, backend, 0, "a"), backend.SQL(t)
		other := backend.Open(t)
		require.NoError(t, storetest.Increment(t.Context(), other, "a"))
		storetest.Eventually(t, 1, func() int { return storetest.Available(t, s, "a") })
		lanes := ` WHERE topic LIKE 'stock/%'`
		for i, happens := range [][]string{
			{`UPDATE change SET version = version + 1` + lanes}, // its line was swept
			{`INSERT INTO stock_change (lane, version, follows, products) SELECT topic, version + 1, version, '*' FROM change` + lanes, `UPDATE change SET version = version + 1` + lanes}, // too many to name
			{`DELETE FROM stock_change`, `UPDATE change SET version = version - 1` + lanes},                                                                                                // a backup was restored
			{ // the last write was lost in a failover, and another server wrote since: its line follows what was before
				`DELETE FROM stock_change`,
				`INSERT INTO stock_change (lane, version, follows, products) SELECT topic, version + 1000, version - 1, 'b' FROM change` + lanes,
				`UPDATE change SET version = version + 1000, follows = version - 1` + lanes,
			},
			{`DELETE FROM stock_change`, `DELETE FROM change` + lanes}, // of the time before there was stock
		} {
			storetest.RefreshStock(t, s)
			storetest.Transact(t, db, func(run func(query string, args ...any)) {
				run(`UPDATE stock SET available = $1`, 10+i)
				for _, query := range happens {
					run(query)
				}
			})
			storetest.Eventually(t, 10+i, func() int {
				stock, err := s.Stock(t.Context(), "a")
				if err != nil { // while it is not sure
					storetest.RequireError(t, err, store.Unavailable, "", "being replaced or restored")
					return -1
				}
				return stock.Available
			})
		}
	}
}

func liveBudget(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		storetest.OpenWithStock(t, backend, 3, "a", "b")
		s := backend.Open(t, func(config *shop.Config) { config.StockBytes = 1 })
		storetest.RefreshStock(t, s)
		one := func(ctx context.Context) error { _, err := s.Stock(ctx, "b"); return err }
		require.Equal(t, 1, storetest.CountStatements(t, one))
		require.NoError(t, storetest.Increment(t.Context(), s, "b"))
		require.Equal(t, 4, storetest.Available(t, s, "b"))
	}
}

// liveRoom takes the stock past its budget, and back.
func liveRoom(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var log storetest.LogBuffer
		s := backend.Open(t, func(config *shop.Config) {
			config.StockBytes = 66_000 // a block of ids, and eight records
			config.Log = slog.New(slog.NewTextHandler(&log, nil))
		})
		told := func(text string) int { return strings.Count(log.String(), text) }
		for i := range 20 {
			_, err := s.CreateStock(t.Context(), storetest.Actor, fmt.Sprint("p", i), 1)
			require.NoError(t, err)
		}
		storetest.Eventually(t, true, func() bool { return s.StockCacheStats().OverBudget })
		storetest.RefreshStock(t, s)
		storetest.RefreshStock(t, s)
		require.Equal(t, 1, told("more memory than --stock-cache-bytes"), "once: %s", log.String())
		require.Zero(t, s.StockCacheStats().Records)
		storetest.ClearStock(t, backend.SQL(t))
		storetest.RefreshStock(t, s)
		require.False(t, s.StockCacheStats().OverBudget)
		require.Equal(t, 1, told("fits into --stock-cache-bytes again"))
		_, err := s.CreateStock(t.Context(), storetest.Actor, "q", 1)
		require.NoError(t, err)
		require.Equal(t, 1, s.StockCacheStats().Records, "it is held again")
	}
}

// liveRestored empties the tables and fills them again, one after the other, as
// a restore does.
func liveRestored(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s, db := storetest.OpenWithStock(t, backend, 5, "a"), backend.SQL(t)
		require.NoError(t, storetest.Increment(t.Context(), s, "a"))
		run := func(query string) {
			t.Helper()
			_, err := db.Exec(query)
			require.NoError(t, err)
		}
		watcher, err := s.WatchStock(t.Context(), []string{"a"})
		require.NoError(t, err)
		t.Cleanup(watcher.Close)
		_, took := watcher.Newest()
		took()
		for _, query := range []string{`CREATE TABLE kept AS SELECT * FROM stock`, `CREATE TABLE kept_change AS SELECT * FROM change`,
			`UPDATE kept SET available = 5, revision = 0`, `UPDATE kept_change SET version = 1`, `DELETE FROM change`, `DELETE FROM stock_change`, `DELETE FROM stock`} {
			run(query)
		}
		in503 := func() bool {
			_, err := s.Stock(t.Context(), "a")
			return store.HasCode(err, store.Unavailable)
		}
		storetest.Eventually(t, true, in503)
		storetest.RequireError(t, s.Ping(t.Context()), store.Unavailable, "", "being replaced or restored")
		storetest.RequireError(t, storetest.Increment(t.Context(), s, "a"), store.Unavailable, "", "being replaced or restored")
		_, err = s.Settings(t.Context())
		storetest.RequireError(t, err, store.Unavailable, "", "being replaced or restored")
		run(`INSERT INTO change SELECT * FROM kept_change`)
		for range 20 { // longer than two reads are apart
			require.True(t, in503(), "the stock is not there yet")
			time.Sleep(100 * time.Millisecond)
		}
		run(`INSERT INTO stock SELECT * FROM kept`)
		storetest.Eventually(t, 5, func() int {
			stock, err := s.Stock(t.Context(), "a")
			if err != nil {
				storetest.RequireError(t, err, store.Unavailable, "")
				return -1
			}
			return stock.Available
		})
		require.NoError(t, s.Ping(t.Context()))
		storetest.Eventually(t, 5, func() int {
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
