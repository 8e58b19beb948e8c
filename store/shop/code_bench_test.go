package shop_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/exchange"
	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/shop"
	"portico/store/storetest"
)

// BenchmarkCodes measures codes per second: inserts by the bare driver with the same rows and
// indexes, one statement per code in transactions of 10,000; requests with 1, 100 and 10,000
// codes; and the job. Compare the ratios to the first within one run.
func BenchmarkCodes(b *testing.B) {
	const name = `{"type":"promotion","id":"p","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`
	storetest.EachBackendBenchmark(b, func(b *testing.B, backend storetest.Backend) {
		open := func(b *testing.B) *shop.Store {
			s := backend.Open(b, func(c *shop.Config) { c.Synchronous = "FULL" })
			_, err := s.Exchange.Import(b.Context(), "test", func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(name)), nil }, exchange.ImportOptions{})
			require.NoError(b, err)
			return s
		}
		rate := func(b *testing.B, codes int) {
			b.ReportMetric(float64(codes)/b.Elapsed().Seconds(), "codes/s")
			b.ReportMetric(0, "ns/op")
		}
		b.Run("engine", func(b *testing.B) {
			open(b)
			db, n := backend.SQL(b), 0
			for b.Loop() {
				insertBare(b, db, n, 10_000)
				n += 10_000
			}
			rate(b, n)
		})
		for _, size := range []int{1, 100, 10_000} {
			b.Run(fmt.Sprint("request of ", size), func(b *testing.B) {
				s, n := open(b), 0
				for b.Loop() {
					_, _, err := s.Codes.Create(b.Context(), actor, "p", make([]code.NewCode, size), code.PerCart)
					require.NoError(b, err)
					n += size
				}
				rate(b, n)
			})
		}
		b.Run("job", func(b *testing.B) {
			const size = 50_000
			s, n := open(b), 0
			working, stop := context.WithCancel(b.Context())
			done := make(chan struct{})
			go func() { defer close(done); s.Jobs.Work(working) }()
			for b.Loop() {
				task, _, err := s.Codes.Generate(b.Context(), actor, code.Generation{PromotionID: "p", Count: size})
				require.NoError(b, err)
				for task.FinishedAt.IsZero() {
					task, err = s.Jobs.Get(b.Context(), task.ID)
					require.NoError(b, err)
				}
				require.Equal(b, job.Succeeded, task.State)
				n += size
			}
			rate(b, n)
			stop()
			<-done
		})
	})
}

// insertBare writes rows of codes with only the driver.
func insertBare(b *testing.B, db *sql.DB, from, n int) {
	transaction, err := db.Begin()
	require.NoError(b, err)
	claim, err := transaction.Prepare(`INSERT INTO code_claim (code, promotion_number, epoch) VALUES ($1, 999, 0)`)
	require.NoError(b, err)
	code, err := transaction.Prepare(`
		INSERT INTO promotion_code (promotion_number, epoch, code, id, max_uses, used, consume_unit, users, created_at)
		VALUES (999, 0, $1, $2, NULL, 0, 'per_cart', '', 1)`)
	require.NoError(b, err)
	for i := range n {
		text := fmt.Sprintf("%08X", uint32(from+i)*2654435761) // unique, in no order
		_, err = claim.Exec(text)
		require.NoError(b, err)
		_, err = code.Exec(text, "id-"+text)
		require.NoError(b, err)
	}
	require.NoError(b, transaction.Commit())
}
