package storetest

import (
	"database/sql"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"

	"portico/store"
)

// RequireError checks an error's code, its member (a path with dots) and that its message
// contains words.
func RequireError(t require.TestingT, err error, code store.Code, member string, words ...string) {
	require.Error(t, err)
	first := store.AsErrors(err)[0]
	require.Equal(t, code, first.Code, "the code of %q", err)
	require.Equal(t, member, strings.Join(first.Path, "."), "the member of %q", err)
	require.True(t, store.HasCode(err, code))
	for _, word := range slices.Concat(words, strings.Fields(member)) {
		require.Contains(t, first.Error(), word)
	}
}

// RequireTotals checks the stored totals against the rows.
func RequireTotals(t require.TestingT, db *sql.DB) {
	for name, query := range miscounts {
		var n int
		require.NoError(t, db.QueryRow(query).Scan(&n))
		require.Zero(t, n, name)
	}
}

// miscounts are queries that count wrong totals. Each is one statement, which sees one
// snapshot.
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

// RequireLedger checks that each balance is the sum of its ledger.
func RequireLedger(t require.TestingT, db *sql.DB) {
	rows, err := db.Query(`
		SELECT stock.product_id, available, allocated,
		       CAST(SUM(available_delta) AS BIGINT), CAST(SUM(allocated_delta) AS BIGINT)
		FROM stock JOIN stock_transaction ON stock_transaction.product_id = stock.product_id
		GROUP BY stock.product_id, available, allocated`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var product string
		var available, allocated, availableSum, allocatedSum int
		require.NoError(t, rows.Scan(&product, &available, &allocated, &availableSum, &allocatedSum))
		require.Equal(t, available, availableSum, "available of %s against its ledger", product)
		require.Equal(t, allocated, allocatedSum, "allocated of %s against its ledger", product)
		require.GreaterOrEqual(t, available, 0, product)
		require.GreaterOrEqual(t, allocated, 0, product)
	}
	require.NoError(t, rows.Err())
}

// RequireStockConsistent checks RequireLedger, RequireTotals, records without a ledger, and the
// counter of records.
func RequireStockConsistent(t require.TestingT, db *sql.DB) {
	RequireLedger(t, db)
	for name, query := range map[string]string{
		"balances that the ledger does not add up to": `
			SELECT COUNT(*) FROM stock LEFT JOIN (
			    SELECT product_id, SUM(available_delta) AS available, SUM(allocated_delta) AS allocated
			    FROM stock_transaction GROUP BY product_id) AS ledger ON ledger.product_id = stock.product_id
			WHERE stock.available <> COALESCE(ledger.available, 0) OR stock.allocated <> COALESCE(ledger.allocated, 0)`,
		"lines of no balance": `SELECT COUNT(*) FROM stock_transaction WHERE product_id NOT IN (SELECT product_id FROM stock UNION ALL SELECT product_id FROM stock_deleted)`,
		"deleted records that the ledger does not bring to nothing": `
			SELECT COUNT(*) FROM (
			    SELECT product_id FROM stock_transaction WHERE product_id NOT IN (SELECT product_id FROM stock)
			    GROUP BY product_id HAVING SUM(available_delta) <> 0 OR SUM(allocated_delta) <> 0) AS ledger`,
		"records that are deleted": `SELECT COUNT(*) FROM stock_deleted WHERE product_id IN (SELECT product_id FROM stock)`,
		"miscounted records":       `SELECT value - (SELECT COUNT(*) FROM stock) FROM counter WHERE name = 'stock'`,
	} {
		var n int
		require.NoError(t, db.QueryRow(query).Scan(&n))
		require.Zero(t, n, name)
	}
	RequireTotals(t, db)
}

// RequireNoOrphans checks that all parts of releases belong to a release, and that all
// documents are referenced.
func RequireNoOrphans(t require.TestingT, db *sql.DB) {
	for _, table := range []string{"release_node", "release_file", "release_list", "release_chunk", "release_index", "release_place", "release_sale", "release_word", "release_facet", "release_change"} {
		require.Zero(t, CountRows(t, db, table+` WHERE release_id NOT IN (SELECT id FROM release)`), table)
	}
	for _, table := range []string{"release_row", "release_block"} {
		require.Zero(t, CountRows(t, db, table+` WHERE id / 4294967296 NOT IN (SELECT id FROM release)`), table)
	}
	require.Zero(t, CountRows(t, db, "document"), "documents of earlier formats")
}
