package stock_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
)

func stockOversell(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		for _, action := range []stock.Action{stock.StockDecrement, stock.StockAllocate} {
			t.Run(string(action), func(t *testing.T) {
				const units = 100
				s := storetest.OpenWithStock(t, backend, units, "a")
				var sold atomic.Int64
				storetest.RunWriters(t, backend, func(s *shop.Store, _ int) {
					for {
						made, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: "a", Action: action, Quantity: 3}})
						if err != nil {
							if !store.HasCode(err, store.Unprocessable) {
								t.Errorf("a buyer got %v", err)
							}
							return
						}
						if left := made[0].Stock.Available; left < 0 || left > units-3 {
							t.Errorf("%d units are left", left)
						}
						sold.Add(3)
					}
				})
				require.EqualValues(t, units/3*3, sold.Load(), "units sold")
				require.Equal(t, units%3, storetest.LatestAvailable(t, s, "a"))
				storetest.RequireLedger(t, backend.SQL(t))
			})
		}
	}
}

// stockContention adds and takes single units. Most of those who take come too late, and must
// get the error for too little stock whatever the balance has become.
func stockContention(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 0, "a")
		var given, taken atomic.Int64
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			action, counter := stock.StockDecrement, &taken
			if writer%4 < 2 {
				action, counter = stock.StockIncrement, &given
			}
			for range 20 {
				_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{{ProductID: "a", Action: action, Quantity: 1}})
				if err == nil {
					counter.Add(1)
				} else if want := "must be at most the 0 available units of a, got 1"; !strings.Contains(err.Error(), want) {
					t.Errorf("a writer got %q, want %s", err, want)
				}
			}
		})
		require.EqualValues(t, given.Load()-taken.Load(), storetest.LatestAvailable(t, s, "a"))
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockCompareAndSet(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 1000, "a")
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			for {
				seen, err := s.Stock.Get(t.Context(), "a")
				if err != nil {
					t.Errorf("reading: %v", err)
					return
				}
				change := stock.Change{ProductID: "a", Action: stock.StockDecrement, Quantity: 1, ExpectedAvailable: &seen.Available}
				if writer%2 == 0 { // half of the writers use a set
					change.Action, change.Quantity = stock.StockSet, seen.Available-1
				}
				_, err = s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{change})
				if err == nil {
					return
				}
				if !store.HasCode(err, store.Conflict) {
					t.Errorf("a writer who lost the race got %v", err)
					return
				}
			}
		})
		require.Equal(t, 1000-storetest.WriterCount, storetest.LatestAvailable(t, s, "a"), "each writer took one unit")
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockConcurrentSets(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		s := storetest.OpenWithStock(t, backend, 5, "a")
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			change := stock.Change{ProductID: "a", Action: stock.StockSet, Quantity: writer}
			if writer%4 == 3 {
				change.Action = stock.StockAllocate
				change.Quantity = 1
			}
			for range 5 {
				_, err := s.Stock.Transact(t.Context(), storetest.Actor, []stock.Change{change})
				if err != nil && !store.HasCode(err, store.Unprocessable) {
					t.Errorf("setting: %v", err)
				}
			}
		})
		require.GreaterOrEqual(t, storetest.LatestAvailable(t, s, "a"), 0)
		storetest.RequireLedger(t, backend.SQL(t))
	}
}

func stockLockOrder(backend storetest.Backend) func(*testing.T) {
	return func(t *testing.T) {
		var products []string
		for i := range 8 {
			products = append(products, fmt.Sprintf("p%d", i))
		}
		s := storetest.OpenWithStock(t, backend, 1000, products...)
		storetest.RunWriters(t, backend, func(s *shop.Store, writer int) {
			var batch []stock.Change
			for i := range products {
				if writer%2 == 0 {
					i = len(products) - 1 - i
				}
				batch = append(batch, stock.Change{ProductID: products[i], Action: stock.StockDecrement, Quantity: 1})
			}
			for range 5 {
				if _, err := s.Stock.Transact(t.Context(), storetest.Actor, batch); err != nil {
					t.Errorf("a batch: %v", err)
				}
			}
		})
		for _, product := range products {
			require.Equal(t, 1000-5*storetest.WriterCount, storetest.LatestAvailable(t, s, product))
		}
		storetest.RequireLedger(t, backend.SQL(t))
	}
}
