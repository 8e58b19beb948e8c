package stock_test

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

func stockCreate(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		clock := testkit.NewClock(testkit.Noon)
		s := backend.Open(t, storetest.WithClock(clock))
		made, err := s.Stock.Create(t.Context(), storetest.Actor, "a", 10)
		require.NoError(t, err)
		require.Equal(t, &stock.Stock{ProductID: "a", Available: 10, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon}, made)
		require.Equal(t, made, storetest.ReadStock(t, s, "a"))
		none, err := s.Stock.Create(t.Context(), storetest.Actor, "b", 0)
		require.NoError(t, err)
		require.Zero(t, none.Total())
		slice, err := s.Stock.List(t.Context(), store.ListQuery{})
		require.NoError(t, err)
		total, err := slice.Total(t.Context())
		require.NoError(t, err)
		require.Equal(t, 2, total, "the list's total")
		lines, err := s.Stock.TransactionsByProduct(t.Context(), []string{"a", "b"}, 5)
		require.NoError(t, err)
		require.Empty(t, lines["b"], "zero units make no ledger entry")
		require.Len(t, lines["a"], 1)
		require.Equal(t, []any{stock.StockIncrement, 10, 10, 0, storetest.Actor}, []any{lines["a"][0].Action, lines["a"][0].Quantity, lines["a"][0].AvailableDelta, lines["a"][0].AllocatedDelta, lines["a"][0].Actor})
		storetest.RequireLedger(t, backend.SQL(t))
		for _, c := range []struct {
			product string
			units   int
			code    store.Code
			member  string
		}{
			{"a", 5, store.Conflict, "product_id"},
			{"b", 0, store.Conflict, "product_id"},
			{"c d", 5, store.Invalid, "product_id"},
			{"", 5, store.Invalid, "product_id"},
			{"c", -1, store.Unprocessable, "quantity"},
			{"c", stock.MaxStock + 1, store.Unprocessable, "quantity"},
		} {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, c.product, c.units)
			storetest.RequireError(t, err, c.code, c.member)
		}
		_, err = s.Stock.Get(t.Context(), "c")
		storetest.RequireError(t, err, store.NotFound, "")
		full, err := s.Stock.Create(t.Context(), storetest.Actor, "full", stock.MaxStock)
		require.NoError(t, err)
		require.Equal(t, stock.MaxStock, full.Total())
	}
}

func stockCreateRace(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var made atomic.Int64
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			_, err := s.Stock.Create(t.Context(), storetest.Actor, "a", 1+writer)
			switch {
			case err == nil:
				made.Add(1)
			case !store.HasCode(err, store.Conflict):
				t.Errorf("a writer got %v", err)
			}
		})
		require.EqualValues(t, 1, made.Load())
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockTransactionList(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a", "b")
		var ids []string
		for n := range 23 {
			made, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: "a", Action: stock.StockIncrement, Quantity: 1 + n},
				{ProductID: "b", Action: stock.StockIncrement, Quantity: 1}})
			require.NoError(t, err)
			ids = append(ids, made[0].ID)
		}
		newest, err := s.Stock.TransactionsByProduct(t.Context(), []string{"a"}, 100)
		require.NoError(t, err)
		want := []string{}
		for _, line := range newest["a"] {
			want = append(want, line.ID)
		}
		require.Subset(t, want, ids)
		for _, descending := range []bool{true, false} {
			query := store.ListQuery{Page: store.Page{First: new(7)}}
			if !descending {
				query.Sort = store.Sort{By: store.SortCreatedAt}
				slices.Reverse(want)
			}
			got := []string{}
			for {
				slice, err := s.Stock.Transactions(t.Context(), "a", query)
				require.NoError(t, err)
				total, err := slice.Total(t.Context())
				require.NoError(t, err)
				require.Equal(t, len(want), total)
				for _, line := range slice.Items {
					require.Equal(t, "a", line.ProductID)
					got = append(got, line.ID)
				}
				if !slice.HasNext {
					break
				}
				query.Page.After = &slice.Cursors()[len(slice.Cursors())-1]
			}
			require.Equal(t, want, got)
		}
		line, err := s.Stock.Transaction(t.Context(), "a", ids[3])
		require.NoError(t, err)
		require.Equal(t, 4, line.Quantity)
		for _, of := range [][2]string{{"b", ids[3]}, {"a", "none"}, {"a b", ids[3]}, {"a", "\x00"}, {"ghost", ids[3]}} {
			_, err := s.Stock.Transaction(t.Context(), of[0], of[1])
			storetest.RequireError(t, err, store.NotFound, "")
		}
		_, err = s.Stock.Transactions(t.Context(), "ghost", store.ListQuery{})
		storetest.RequireError(t, err, store.NotFound, "", "ghost")
		for _, by := range []store.SortBy{store.SortID, store.SortUpdatedAt} {
			_, err = s.Stock.Transactions(t.Context(), "a", store.ListQuery{Sort: store.Sort{By: by}})
			storetest.RequireError(t, err, store.Invalid, "sort", "by time of creation")
		}
		_, err = s.Stock.Transactions(t.Context(), "a", store.ListQuery{Ranges: []store.Range{{Attribute: store.SortUpdatedAt, Operator: "gt", Time: testkit.Noon}}})
		storetest.RequireError(t, err, store.Invalid, "filter", "time of an update")
		later := store.ListQuery{Ranges: []store.Range{{Attribute: store.SortCreatedAt, Operator: "gt", Time: testkit.Noon.Add(100 * 365 * 24 * time.Hour)}}}
		slice, err := s.Stock.Transactions(t.Context(), "a", later)
		require.NoError(t, err)
		require.Empty(t, slice.Items)
		_, err = s.Stock.Transactions(t.Context(), "a", store.ListQuery{Page: store.Page{Offset: new(10_001)}})
		storetest.RequireError(t, err, store.Unprocessable, "offset")
		_, err = s.Stock.Transactions(t.Context(), "b", store.ListQuery{Page: store.Page{After: new(cursorOfLedger(t, s, "a"))}})
		storetest.RequireError(t, err, store.CursorMismatch, "after")
	}
}

func cursorOfLedger(t *testing.T, s *shop.Store, product string) string {
	slice, err := s.Stock.Transactions(t.Context(), product, store.ListQuery{})
	require.NoError(t, err)
	return slice.Cursors()[0]
}
