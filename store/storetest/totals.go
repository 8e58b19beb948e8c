package storetest

import (
	"context"
	"database/sql"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
)

// miscounts find what is stored and not what is there, each in one statement,
// which sees one moment.
var miscounts = map[string]string{
	"promotions whose codes are miscounted": `
		SELECT COUNT(*) FROM promotion WHERE codes <> (
		    SELECT COUNT(*) FROM promotion_code WHERE promotion_code.promotion_number = promotion.number AND promotion_code.epoch = promotion.epoch)`,
	"promotions whose usages are miscounted": `
		SELECT COUNT(*) FROM promotion
		WHERE (SELECT COALESCE(SUM(usages), 0) FROM code_usage_total WHERE code_usage_total.promotion_number = promotion.number)
		   <> (SELECT COUNT(*) FROM code_usage WHERE code_usage.promotion_number = promotion.number)`,
	"products whose lines of the ledger are miscounted": `
		SELECT COUNT(*) FROM (SELECT product_id, lines FROM stock UNION ALL SELECT product_id, lines FROM stock_deleted) AS stock
		WHERE lines <> (SELECT COUNT(*) FROM stock_transaction WHERE stock_transaction.product_id = stock.product_id)`,
}

// requireTotals holds the stored totals against the rows.
func RequireTotals(t require.TestingT, db *sql.DB) {
	for name, query := range miscounts {
		var n int
		require.NoError(t, db.QueryRow(query).Scan(&n))
		require.Zero(t, n, name)
	}
}

func CodesTotal(t require.TestingT, ctx context.Context, s *shop.Store, id string, codes ...string) int {
	page, err := s.PromotionCodes(ctx, id, codes, store.Sort{}, store.Page{First: new(1)})
	require.NoError(t, err)
	n, err := page.Total(ctx)
	require.NoError(t, err)
	return n
}

func UsagesTotal(t require.TestingT, ctx context.Context, s *shop.Store, id string, code *string) int {
	page, err := s.CodeUsages(ctx, id, code, store.ListQuery{})
	require.NoError(t, err)
	n, err := page.Total(ctx)
	require.NoError(t, err)
	return n
}

func LedgerTotal(t require.TestingT, ctx context.Context, s *shop.Store, product string, ranges ...store.Range) int {
	page, err := s.StockTransactions(ctx, product, store.ListQuery{Ranges: ranges})
	require.NoError(t, err)
	n, err := page.Total(ctx)
	require.NoError(t, err)
	return n
}
