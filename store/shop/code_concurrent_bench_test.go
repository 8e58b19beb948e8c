package shop_test

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/shop"
	"portico/store/storetest"
)

// BenchmarkCodesTogether has 32 concurrent clients redeem one code, redeem a thousand codes,
// and create five codes a request, durably. On PostgreSQL it reports the number of
// transactions.
func BenchmarkCodesTogether(b *testing.B) {
	storetest.EachBackendBenchmark(b, func(b *testing.B, backend storetest.Backend) {
		s := backend.Open(b, func(c *shop.Config) { c.Synchronous = "FULL" })
		lines := []string{`{"type":"promotion","id":"p","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`}
		for i := range 1000 {
			lines = append(lines, fmt.Sprintf(`{"type":"promotion_code","id":"id-%d","promotion_id":"p","code":"CODE-%d"}`, i, i))
		}
		_, err := s.Exchange.Import(b.Context(), "test", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(strings.Join(lines, "\n"))), nil }, exchange.ImportOptions{})
		require.NoError(b, err)
		var reference atomic.Int64
		redeem := func(codes int64) func() error {
			return func() error {
				n := reference.Add(1)
				_, err := s.Redemptions.Redeem(b.Context(), actor, redeem.CodeUse{Code: fmt.Sprint("CODE-", n*7919%codes), Units: 1, Reference: fmt.Sprint("order-", n)})
				return err
			}
		}
		create := func() error {
			_, _, err := s.Codes.Create(b.Context(), actor, "p", make([]code.NewCode, 5), code.PerCart)
			return err
		}
		for _, c := range []struct {
			name string
			do   func() error
		}{{"redeem one", redeem(1)}, {"redeem a thousand", redeem(1000)}, {"create five", create}} {
			b.Run(c.name, func(b *testing.B) {
				began := transactions(b, backend)
				var done atomic.Int64
				var group sync.WaitGroup
				b.ResetTimer()
				for range sellers {
					group.Go(func() {
						for done.Add(1) <= int64(b.N) {
							if err := c.do(); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				group.Wait()
				b.StopTimer()
				if backend.Name == "postgres" {
					b.ReportMetric(float64(transactions(b, backend)-began)/float64(b.N), "transactions/op")
				}
			})
		}
	})
}

// transactions returns the number of committed transactions, from the next transaction ID.
func transactions(b *testing.B, backend storetest.Backend) (n int64) {
	if backend.Name == "postgres" {
		require.NoError(b, backend.SQL(b).QueryRow(`SELECT CAST(CAST(pg_snapshot_xmax(pg_current_snapshot()) AS TEXT) AS BIGINT)`).Scan(&n))
	}
	return n
}
