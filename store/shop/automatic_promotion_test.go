package shop_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/db"
	"portico/store/promotion/rule"
	"portico/store/storetest"
)

// A cart considers a limited number of automatic promotions. Those beyond it are found: not those that ended or are disabled.
func TestIgnoredAutomaticPromotions(t *testing.T) {
	t.Parallel()
	line := func(id, end string, enabled bool) string {
		return fmt.Sprintf(`{"type":"promotion","id":%q,"name":"A","description":"","promotion_type":"fixed_discount","automatic":true,"enabled":%t,"start":"2024-01-01","end":%q,`+
			`"schema":{"currencies":[{"currency":"USD","amount":500}]}}`+"\n", id, enabled, end)
	}
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := e.Open(t)
		var lines strings.Builder
		for i := range rule.MaxAutomatic {
			lines.WriteString(line(fmt.Sprintf("a%03d", i), "2100-01-01", true))
		}
		storetest.Import(t, s, lines.String()+line("ended", "2024-02-01", true)+line("disabled", "2100-01-01", false))
		ignored := func() db.CheckResult {
			found, err := s.Doctor(t.Context())
			require.NoError(t, err)
			for _, check := range found {
				if check.Rule == "Each automatic promotion can take part in carts." {
					return check
				}
			}
			require.Fail(t, "no such check")
			return db.CheckResult{}
		}
		warning, err := s.Promotions.WarnOfIgnored(t.Context())
		require.NoError(t, err)
		require.Nil(t, warning)
		require.Zero(t, ignored().Count)

		storetest.Import(t, s, line("last", "2100-01-02", true))
		warning, err = s.Promotions.WarnOfIgnored(t.Context())
		require.NoError(t, err)
		require.EqualError(t, warning, "automatic is set on 101 promotions that have not ended, and a cart considers the 100 of them that end first; disable those that are no longer needed.")
		require.Equal(t, 1, ignored().Count)
		require.Equal(t, "last", ignored().Example)
	})
}
