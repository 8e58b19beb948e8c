package rest_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"portico/graph"
	"portico/internal/web/problem"
	"portico/rest"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest"
)

// sink is a ResponseWriter that discards the body.
type sink struct {
	header http.Header
	status int
}

func (s *sink) Header() http.Header            { return s.header }
func (s *sink) WriteHeader(status int)         { s.status = status }
func (s *sink) Write(body []byte) (int, error) { return len(body), nil }

// BenchmarkStockRows measures the handler for a page of stock, with the numbers in memory.
func BenchmarkStockRows(b *testing.B) {
	storetest.EachBackendBenchmark(b, func(b *testing.B, e storetest.Backend) {
		var rows []stock.Stock
		for i := range 10_000 {
			at := time.UnixMilli(int64(1_700_000_000_000 + i)).UTC()
			rows = append(rows, stock.Stock{ProductID: fmt.Sprintf("0190a0b0-1111-7222-8333-%012d", i), Available: i, Allocated: i / 3,
				CreatedAt: at, UpdatedAt: at})
		}
		storetest.SeedStock(b, e.SQL(b), rows...)
		log := slog.New(slog.DiscardHandler)
		s := e.WithStockCache().Open(b)
		handler := (&testServer{store: s, handler: rest.New(graph.NewResolver(s), problem.Writer(log)).Handler()}).as(admin())
		for _, n := range []int{25, 100} {
			b.Run(fmt.Sprint(n), func(b *testing.B) {
				b.ReportAllocs()
				for i := range b.N {
					r := httptest.NewRequest("GET", fmt.Sprintf("/v2/inventories?page[limit]=%d&page[offset]=%d", n, i*97%9000), nil)
					w := &sink{header: http.Header{}}
					handler.ServeHTTP(w, r)
					if w.status != http.StatusOK {
						b.Fatal(w.status)
					}
				}
			})
		}
	})
}

// BenchmarkAllocate has 32 clients allocate stock of a thousand products, durably, without a
// network.
func BenchmarkAllocate(b *testing.B) {
	storetest.EachBackendBenchmark(b, func(b *testing.B, e storetest.Backend) {
		var rows []stock.Stock
		for i := range 1000 {
			rows = append(rows, stock.Stock{ProductID: fmt.Sprint("p", i), Available: 1 << 30, CreatedAt: noon, UpdatedAt: noon})
		}
		storetest.SeedStock(b, e.SQL(b), rows...)
		s := e.WithStockCache().Open(b, func(c *shop.Config) { c.Synchronous = "FULL" })
		handler := (&testServer{store: s, handler: rest.New(graph.NewResolver(s), problem.Writer(slog.New(slog.DiscardHandler))).Handler()}).as(admin())
		var sold atomic.Int64
		var group sync.WaitGroup
		b.ReportAllocs()
		b.ResetTimer()
		for range 32 {
			group.Go(func() {
				for n := sold.Add(1); n <= int64(b.N); n = sold.Add(1) {
					r := httptest.NewRequest("POST", fmt.Sprintf("/v2/inventories/p%d/transactions", n*7%1000),
						strings.NewReader(`{"data":{"type":"stock-transaction","action":"allocate","quantity":1}}`))
					w := &sink{header: http.Header{}}
					if handler.ServeHTTP(w, r); w.status != http.StatusCreated {
						b.Error(w.status)
						return
					}
				}
			})
		}
		group.Wait()
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sales/s")
	})
}
