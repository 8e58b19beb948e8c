package storetest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/shop"
)

// Live is an engine whose stores keep all stock in memory.
func (e Engine) Live() Engine {
	e.live = true
	return e
}

// LiveStock is the promise of stock in memory: everything that holds for stock
// in the database holds for it, it costs no statement, a server shows its own
// writes at once, and those of others within a second.
func LiveStock(t *testing.T, e Engine) {
	Stocks(t, e.Live())
	if Long() {
		Stock(t, e.Live())
	} else {
		t.Run("any sequence of batches does what the model does", stockModel(e.Live()))
	}
	t.Run("reading it costs no statement", liveStatements(e.Live()))
	t.Run("a server shows its own write at once", liveOwn(e.Live()))
	t.Run("a server shows another's write soon", liveOthers(e.Live()))
	t.Run("an import is shown soon", liveImport(e.Live()))
	t.Run("what another wrote by a lane that is swept or restored is found again", liveGaps(e.Live()))
	t.Run("more than there is room for is read from the database", liveBudget(e))
}

// fresh has a store see what a test wrote behind its back.
func fresh(t require.TestingT, s *shop.Store) { require.NoError(t, s.WarmStock(context.Background())) }

// settled is what a product has when all that others wrote is known.
func settled(t require.TestingT, s *shop.Store, product string) int {
	fresh(t, s)
	return available(t, s, product)
}

// statements counts those of a read.
func statements(t *testing.T, read func(context.Context) error) int {
	t.Helper()
	ctx, counter := store.CountStatements(t.Context())
	require.NoError(t, read(ctx))
	return counter.Count()
}

func liveStatements(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := stocked(t, e, 1, "a", "b", "c")
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
			Soon(t, true, func() bool { return statements(t, read) == 0 }, name)
		}
	}
}

func liveOwn(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := stocked(t, e, 0, "a")
		for i := range 50 {
			require.NoError(t, increment(t.Context(), s, "a"))
			require.Equal(t, i+1, available(t, s, "a"))
			made, err := s.CreateStock(t.Context(), actor, fmt.Sprintf("n%d", i), i)
			require.NoError(t, err)
			require.Equal(t, made, read(t, s, made.ProductID))
			slice, err := s.Stocks(t.Context(), store.ListQuery{})
			require.NoError(t, err)
			total, err := slice.Total(t.Context())
			require.NoError(t, err)
			require.Equal(t, i+2, total)
		}
	}
}

func liveOthers(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := stocked(t, e, 0, "a")
		other := e.Open(t)
		for i := range Pick(3, 30) {
			require.NoError(t, increment(t.Context(), other, "a"))
			require.NoError(t, increment(t.Context(), s, "a"))
			want := 2 * (i + 1)
			require.Equal(t, want, available(t, s, "a"), "who wrote last knows all before")
			Soon(t, want, func() int { return available(t, other, "a") })
		}
		_, err := other.CreateStock(t.Context(), actor, "b", 7)
		require.NoError(t, err)
		Soon(t, 7, func() int {
			if stock, err := s.Stock(t.Context(), "b"); err == nil {
				return stock.Available
			}
			return -1
		})
	}
}

func liveImport(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s := stocked(t, e, 5, "a", "b")
		other := e.Open(t)
		_, err := other.Import(t.Context(), actor, file(`{"type":"stock","id":"a","available":1,"allocated":2,"total":3}
{"type":"stock","id":"c","available":9,"allocated":0,"total":9}`), exchange.ImportOptions{Stock: true})
		require.NoError(t, err)
		require.Equal(t, 1, available(t, other, "a"), "by the one who imported, at once")
		Soon(t, 1, func() int { return available(t, s, "a") })
		Soon(t, 9, func() int { return available(t, s, "c") })
	}
}

func liveGaps(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		s, db := stocked(t, e, 0, "a"), e.SQL(t)
		other := e.Open(t)
		require.NoError(t, increment(t.Context(), other, "a"))
		Soon(t, 1, func() int { return available(t, s, "a") })
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
			fresh(t, s)
			inTransaction(t, db, func(run func(query string, args ...any)) {
				run(`UPDATE stock SET available = $1`, 10+i)
				for _, query := range happens {
					run(query)
				}
			})
			Soon(t, 10+i, func() int { return available(t, s, "a") })
		}
	}
}

func liveBudget(e Engine) func(*testing.T) {
	return func(t *testing.T) {
		stocked(t, e, 3, "a", "b")
		s := e.Open(t, func(config *shop.Config) { config.StockBytes = 1 })
		fresh(t, s)
		one := func(ctx context.Context) error { _, err := s.Stock(ctx, "b"); return err }
		require.Equal(t, 1, statements(t, one))
		require.NoError(t, increment(t.Context(), s, "b"))
		require.Equal(t, 4, available(t, s, "b"))
	}
}
