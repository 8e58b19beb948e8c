package shop_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
)

// sellers is the number of concurrent clients.
const sellers = 32

// sell allocates b.N units, one at a time, by all sellers.
func sell(b *testing.B, products []string, allocate func(product string) error) {
	b.Helper()
	var sold atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	b.ReportAllocs()
	for range sellers {
		group.Go(func() {
			for sold.Add(1) <= int64(b.N) {
				if err := allocate(products[rand.IntN(len(products))]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sales/s")
}

// BenchmarkSales has 32 concurrent clients sell durably: one product, a thousand products, and
// one product by plain updates with a ledger entry in a transaction each, for comparison.
func BenchmarkSales(b *testing.B) {
	storetest.EachBackendBenchmark(b, func(b *testing.B, backend storetest.Backend) {
		_, ids := cachedStock(b, backend, 1000)
		s := backend.WithStockCache().Open(b, func(config *shop.Config) { config.Synchronous = "FULL" })
		ctx := context.Background()
		allocate := func(product string) error {
			_, err := s.Stock.Transact(ctx, "client:bench", []stock.Change{{ProductID: product, Action: stock.StockAllocate, Quantity: 1}})
			return err
		}
		b.Run("one product", func(b *testing.B) { sell(b, ids[:1], allocate) })
		b.Run("1000 products", func(b *testing.B) { sell(b, ids, allocate) })
		if backend.Name == "sqlite" {
			return // SQLite has a single writer
		}
		db := backend.SQL(b)
		b.Run("one product by plain updates", func(b *testing.B) {
			var line atomic.Int64
			sell(b, ids[:1], func(product string) error {
				tx, err := db.Begin()
				if err != nil {
					return err
				}
				defer tx.Rollback()
				if _, err := tx.Exec(`UPDATE stock SET available = available - 1, allocated = allocated + 1 WHERE product_id = $1 AND available >= 1`, product); err != nil {
					return err
				}
				if _, err := tx.Exec(`INSERT INTO stock_transaction (id, product_id, action, quantity, available_delta, allocated_delta, reason, reference, actor, created_at)
					VALUES (CAST($1 AS TEXT), $2, 'allocate', 1, -1, 1, '', '', '', 0)`, fmt.Sprint("line-", line.Add(1), "-", b.N), product); err != nil {
					return err
				}
				return tx.Commit()
			})
		})
	})
}
