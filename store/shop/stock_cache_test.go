package shop_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// cachedStock opens a store with n stock records in memory.
func cachedStock(t testing.TB, backend storetest.Backend, n int) (s *shop.Store, ids []string) {
	t.Helper()
	var rows []stock.Stock
	at := time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)
	for i := range n {
		ids = append(ids, fmt.Sprintf("0190a0b0-1111-7222-8333-%012d", i))
		rows = append(rows, stock.Stock{ProductID: ids[i], Available: 1 << 30, CreatedAt: at, UpdatedAt: at})
	}
	storetest.SeedStock(t, backend.SQL(t), rows...)
	return backend.WithStockCache().Open(t), ids
}

func TestStockCacheAllocations(t *testing.T) {
	storetest.EachBackendSerial(t, func(t *testing.T, backend storetest.Backend) {
		s, ids := cachedStock(t, backend, 200)
		ctx, limit := context.Background(), 100
		testkit.Eventually(t, true, func() bool {
			column := testing.AllocsPerRun(10, func() { _, _ = s.Stock.Column(ctx, ids[:100]) })
			page := testing.AllocsPerRun(10, func() { _, _ = s.Stock.Page(ctx, store.ListQuery{Page: store.Page{First: &limit}}) })
			return column <= 3 && page <= 6
		}, "allocations of a column and of a page of 100")
	})
}

func BenchmarkStockCache(b *testing.B) {
	storetest.EachBackendBenchmark(b, func(b *testing.B, backend storetest.Backend) {
		s, ids := cachedStock(b, backend, 10_000)
		ctx := context.Background()
		for _, n := range []int{25, 100} {
			b.Run(fmt.Sprintf("column of %d", n), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					from := i * 97 % (len(ids) - n)
					_, err := s.Stock.Column(ctx, ids[from:from+n])
					require.NoError(b, err)
				}
			})
			b.Run(fmt.Sprintf("page of %d", n), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					offset := i * 97 % (len(ids) - n)
					_, err := s.Stock.Page(ctx, store.ListQuery{Page: store.Page{First: &n, Offset: &offset}})
					require.NoError(b, err)
				}
			})
		}
	})
}
