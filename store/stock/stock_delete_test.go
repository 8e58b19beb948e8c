package stock_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func TestDeleteStock(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, backend storetest.Backend) {
		for name, tested := range map[string]storetest.Backend{"database": backend, "memory": backend.WithStockCache()} {
			t.Run("a deleted record keeps its ledger, from the "+name, stockDeleted(tested))
			t.Run("a deletion reaches other servers, lists and watchers, from the "+name, stockDeletedOtherServers(tested))
			t.Run("concurrent sales and deletions lose no unit, from the "+name, stockDeletedRaced(tested))
		}
		t.Run("an import recreates a deleted record, and exports omit deleted records", stockDeletedImported(backend))
	})
}

func ledgerLines(t *testing.T, s *shop.Store, product string) (lines []string) {
	t.Helper()
	slice, err := s.Stock.Transactions(t.Context(), product, store.ListQuery{})
	require.NoError(t, err)
	for _, line := range slices.Backward(slice.Items) {
		lines = append(lines, fmt.Sprintf("%s %d %s", line.Action, line.AvailableDelta, line.Reason))
	}
	require.Equal(t, len(lines), storetest.LedgerTotal(t, t.Context(), s, product))
	return lines
}

// listedStock returns the products of the list. Its total and its order by ID must agree.
func listedStock(t *testing.T, s *shop.Store) string {
	t.Helper()
	slice, err := s.Stock.List(t.Context(), store.ListQuery{})
	require.NoError(t, err)
	ids := []string{}
	for _, item := range slice.Items {
		ids = append(ids, item.ProductID)
	}
	total, err := slice.Total(t.Context())
	require.NoError(t, err)
	require.Equal(t, len(ids), total)
	require.True(t, slices.IsSorted(ids))
	return strings.Join(ids, " ")
}

func stockDeleted(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		storetest.RefreshStock(t, s)
		for _, product := range []string{"a", "b", "c"} {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, product, 5)
			require.NoError(t, err)
		}
		for _, unknown := range []string{"none", "no id", ""} {
			storetest.RequireError(t, s.Stock.Delete(t.Context(), storetest.Actor, unknown), store.NotFound, "product_id", "no stock record")
		}
		storetest.TransactStock(t, s, stock.Change{ProductID: "b", Action: stock.StockAllocate, Quantity: 2})
		storetest.RequireError(t, s.Stock.Delete(t.Context(), storetest.Actor, "b"), store.Unprocessable, "product_id", "2 allocated units")
		storetest.TransactStock(t, s, stock.Change{ProductID: "b", Action: stock.StockDeallocate, Quantity: 2})
		require.NoError(t, s.Stock.Delete(t.Context(), storetest.Actor, "b"))
		require.Equal(t, "a c", listedStock(t, s))
		_, err := s.Stock.Get(t.Context(), "b")
		storetest.RequireError(t, err, store.NotFound, "")
		storetest.RequireError(t, s.Stock.Delete(t.Context(), storetest.Actor, "b"), store.NotFound, "product_id")
		_, err = s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: "b", Action: stock.StockIncrement, Quantity: 1}})
		storetest.RequireError(t, err, store.NotFound, "changes.0.product_id")
		history := []string{"increment 5 ", "allocate -2 ", "deallocate 2 ", "set -5 deleted"}
		require.Equal(t, history, ledgerLines(t, s, "b"))
		_, err = s.Stock.Transactions(t.Context(), "none", store.ListQuery{})
		storetest.RequireError(t, err, store.NotFound, "")
		storetest.RequireStockConsistent(t, backend.SQL(t))
		storetest.RequireTotals(t, backend.SQL(t))

		_, err = s.Stock.Create(t.Context(), storetest.Actor, "b", 3)
		require.NoError(t, err)
		require.Equal(t, "a b c", listedStock(t, s))
		require.Equal(t, 3, storetest.Available(t, s, "b"))
		require.NoError(t, storetest.Increment(t.Context(), s, "b"))
		require.Equal(t, 4, storetest.Available(t, s, "b"))
		require.Equal(t, append(history, "increment 3 ", "increment 1 "), ledgerLines(t, s, "b"))
		for _, product := range []string{"a", "b", "c"} {
			require.NoError(t, s.Stock.Delete(t.Context(), storetest.Actor, product))
		}
		require.Empty(t, listedStock(t, s))
		created, updated, err := s.Stock.Times(t.Context())
		require.NoError(t, err)
		require.True(t, created.IsZero() && updated.IsZero())
		storetest.RequireStockConsistent(t, backend.SQL(t))
		storetest.RequireTotals(t, backend.SQL(t))

		// Under one key it is done once.
		_, err = s.Stock.Create(t.Context(), storetest.Actor, "once", 1)
		require.NoError(t, err)
		keyed := store.WithIdempotencyKey(t.Context(), &store.IdempotencyKey{Operation: "stockDelete", Key: "key"})
		require.NoError(t, s.Stock.Delete(keyed, storetest.Actor, "once"))
		require.NoError(t, s.Stock.Delete(keyed, storetest.Actor, "once"))
	}
}

func stockDeletedOtherServers(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		here, there := backend.Open(t), backend.Open(t)
		storetest.RefreshStock(t, here)
		storetest.RefreshStock(t, there)
		for _, product := range []string{"a", "b"} {
			_, err := here.Stock.Create(t.Context(), storetest.Actor, product, 5)
			require.NoError(t, err)
		}
		testkit.Eventually(t, "a b", func() string { return listedStock(t, there) })
		watcher, err := there.Stock.Watch(t.Context(), []string{"a"})
		require.NoError(t, err)
		defer watcher.Close()
		units := func() int {
			found, took := watcher.Newest()
			if found == nil {
				return -1
			}
			took()
			return found.Available
		}
		testkit.Eventually(t, 5, units)
		for round := range 3 {
			require.NoError(t, here.Stock.Delete(t.Context(), storetest.Actor, "a"))
			require.Equal(t, "b", listedStock(t, here))
			testkit.Eventually(t, "b", func() string { return listedStock(t, there) })
			testkit.Eventually(t, 0, units)
			here, there = there, here
			storetest.RefreshStock(t, here)
			_, err := here.Stock.Create(t.Context(), storetest.Actor, "a", 6+round)
			require.NoError(t, err)
			testkit.Eventually(t, "a b", func() string { return listedStock(t, there) })
			testkit.Eventually(t, 6+round, func() int { return storetest.Available(t, there, "a") })
			here, there = there, here
			testkit.Eventually(t, 6+round, units)
		}
	}
}

func stockDeletedRaced(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		stores := []*shop.Store{backend.Open(t), backend.Open(t)}
		products := []string{"a", "b", "c"}
		var group sync.WaitGroup
		for n := range 4 {
			group.Go(func() {
				random := rand.New(rand.NewPCG(7, uint64(n)))
				for range testkit.QuickOrFull(60, 600) {
					s, product := stores[random.IntN(2)], products[random.IntN(3)]
					switch random.IntN(4) {
					case 0:
						_ = s.Stock.Delete(context.Background(), storetest.Actor, product)
					case 1:
						_, _ = s.Stock.Create(context.Background(), storetest.Actor, product, random.IntN(9))
					default:
						_, _ = s.Stock.Transact(context.Background(), storetest.Actor, []stock.Change{{ProductID: product, Action: stock.Actions()[random.IntN(5)], Quantity: 1 + random.IntN(3)}})
					}
				}
			})
		}
		group.Wait()
		storetest.RequireStockConsistent(t, backend.SQL(t))
		storetest.RequireTotals(t, backend.SQL(t))
		want := listedStock(t, otherServer(t, backend))
		for _, s := range stores {
			testkit.Eventually(t, want, func() string { return listedStock(t, s) })
		}
	}
}

// otherServer opens another store on the same database, without a stock cache.
func otherServer(t *testing.T, backend storetest.Backend) *shop.Store {
	return backend.Open(t, func(config *shop.Config) { config.StockBytes = 0 })
}

func stockDeletedImported(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := backend.Open(t)
		for _, product := range []string{"a", "b"} {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, product, 5)
			require.NoError(t, err)
		}
		before := storetest.Export(t, s)
		require.NoError(t, s.Stock.Delete(t.Context(), storetest.Actor, "b"))
		require.NotContains(t, storetest.Export(t, s), `"b"`)
		storetest.RequireSameAfterImport(t, backend, s)
		report := storetest.ImportWithOptions(t, s, before)
		require.Equal(t, []any{1, map[string]int{}}, []any{report.Changed, report.Skipped})
		require.Equal(t, []int{5, 0}, storetest.StockUnits(t, s, "b"))
		require.Equal(t, []string{"increment 5 ", "set -5 deleted", "set 5 import"}, ledgerLines(t, s, "b"))
		storetest.RequireStockConsistent(t, backend.SQL(t))
		storetest.RequireTotals(t, backend.SQL(t))
		require.NoError(t, storetest.Increment(t.Context(), s, "b"))
		require.NoError(t, s.Stock.Delete(t.Context(), storetest.Actor, "b"))
		storetest.RequireStockConsistent(t, backend.SQL(t))
	}
}
