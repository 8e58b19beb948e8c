package shop_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/datagen"
	"portico/store/exchange"
	"portico/store/shop"
	"portico/store/storetest"
)

// BenchmarkImport tells resources a second: of a file with all that a shop
// has, then of the same file again, of which nothing is new.
//
//	PORTICO_TEST_BENCH_PRODUCTS=30000 go test -run - -bench Import -benchtime 1x ./store
//
// PORTICO_TEST_BENCH_PRODUCTS is the size of the shop, 1000 unless set; 30000 make
// 200,000 resources.
func BenchmarkImport(b *testing.B) {
	products := 1000
	if text := os.Getenv("PORTICO_TEST_BENCH_PRODUCTS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(b, err)
		products = n
	}
	var file bytes.Buffer
	require.NoError(b, datagen.WriteShop(&file, products, 1))
	addUsage(&file, products)
	run := func(b *testing.B, s *shop.Store) (resources int) {
		report, err := s.Exchange.Import(b.Context(), "bench", func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(file.Bytes())), nil }, exchange.ImportOptions{})
		require.NoError(b, err)
		for _, n := range report.Resources {
			resources += n
		}
		return resources
	}
	rate := func(b *testing.B, resources int) {
		b.ReportMetric(float64(resources)/b.Elapsed().Seconds(), "resources/s")
		b.ReportMetric(0, "ns/op")
	}
	storetest.EachBackendBenchmark(b, func(b *testing.B, backend storetest.Backend) {
		b.Run("new", func(b *testing.B) {
			resources := 0
			for b.Loop() {
				b.StopTimer()
				s := backend.Open(b, func(c *shop.Config) { c.Synchronous = "FULL" })
				b.StartTimer()
				resources += run(b, s)
			}
			rate(b, resources)
		})
		b.Run("unchanged", func(b *testing.B) {
			s := backend.Open(b, func(c *shop.Config) { c.Synchronous = "FULL" })
			run(b, s)
			resources := 0
			for b.Loop() {
				resources += run(b, s)
			}
			rate(b, resources)
		})
	})
}

// addUsage adds what shoppers write: for each product a ledger entry and a code, and usages of
// two thirds of the codes.
func addUsage(w io.Writer, products int) {
	out := bufio.NewWriter(w)
	defer out.Flush()
	const codes = 5000 // of a promotion
	for i := range products {
		promotion := fmt.Sprint("bench-", i/codes)
		if i%codes == 0 {
			fmt.Fprintf(out, `{"type":"promotion","id":%q,"name":"P","description":"","promotion_type":"fixed_discount","enabled":true,`+
				`"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`+"\n", promotion)
		}
		fmt.Fprintf(out, `{"type":"stock_transaction","id":"bench-%d","product_id":"bench-%d","action":"increment","quantity":%d,"created_at":"2025-01-01T00:00:00.000Z"}`+"\n", i, i, 1+i%100)
		fmt.Fprintf(out, `{"type":"promotion_code","id":"bench-%d","promotion_id":%q,"code":"BENCH-%07d","max_uses":3,"uses":2}`+"\n", i, promotion, i*7919%products)
		if i%3 > 0 {
			fmt.Fprintf(out, `{"type":"code_usage","id":"bench-%d","promotion_id":%q,"code":"BENCH-%07d","user":"u%d","units":1,"reference":"order-%d","created_at":"2025-01-01T00:00:00.000Z"}`+"\n", i, promotion, i*7919%products, i, i)
		}
	}
}
