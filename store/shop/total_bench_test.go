package shop_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/exchange"
	"portico/store/promotion/code"
	"portico/store/shop"
	"portico/store/storetest"
)

// BenchmarkTotals reads the first page of a promotion's codes with its total, of a hundred
// codes and of a million. Both should cost the same.
func BenchmarkTotals(b *testing.B) {
	storetest.EachBackendBenchmark(b, func(b *testing.B, backend storetest.Backend) {
		for _, codes := range []int{100, 1_000_000} {
			url := backend.OtherURL(b)
			s := backend.Open(b, func(c *shop.Config) { c.URL = url })
			_, err := s.Exchange.Import(b.Context(), "test", func() (io.ReadCloser, error) {
				return io.NopCloser(strings.NewReader(`{"type":"promotion","id":"p","name":"P","description":"","promotion_type":"fixed_discount","enabled":true,"start":"2024-01-01","end":"2100-01-01","schema":{"currencies":[{"currency":"USD","amount":500}]}}`)), nil
			}, exchange.ImportOptions{})
			require.NoError(b, err)
			for _, statement := range manyCodes(codes) {
				_, err := backend.SQLAt(b, url).Exec(statement)
				require.NoError(b, err)
			}
			b.Run(fmt.Sprint(codes, " codes"), func(b *testing.B) {
				for b.Loop() {
					page, err := s.Codes.List(b.Context(), "p", code.Filter{}, store.Sort{}, store.Page{})
					require.NoError(b, err)
					n, err := page.Total(b.Context())
					require.NoError(b, err)
					require.Equal(b, codes, n)
				}
			})
		}
	})
}

// manyCodes returns statements that give the promotion n codes, unordered, and update the
// statistics.
func manyCodes(n int) []string {
	return []string{
		fmt.Sprintf(`
			INSERT INTO promotion_code (promotion_number, epoch, code, id, max_uses, used, consume_unit, users, created_at)
			WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d)
			SELECT number, epoch, 'CODE-' || CAST(CAST(i AS BIGINT) * 7919 %% 1000003 AS TEXT), 'id-' || CAST(i AS TEXT), NULL, 0, 'per_cart', '', i FROM n, promotion`, n),
		`INSERT INTO code_claim (code, promotion_number, epoch) SELECT code, promotion_number, epoch FROM promotion_code`,
		fmt.Sprintf(`UPDATE promotion SET codes = %d`, n),
		`VACUUM`, `ANALYZE`,
	}
}
