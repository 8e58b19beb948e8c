package storetest

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
)

// desk is a store that tests share one after the other, each of which finds
// it empty: a database on PostgreSQL takes longer to make than most of them.
type SharedStore struct {
	*shop.Store
	Engine Backend
	DB     *sql.DB
	Clock  *Clock
}

func NewSharedStore(t *testing.T, e Backend) *SharedStore {
	t.Helper()
	clock := NewClock(Noon)
	return &SharedStore{Store: e.Open(t, WithClock(clock)), Engine: e, DB: e.SQL(t), Clock: clock}
}

func (d *SharedStore) Run(t *testing.T, name string, test func(*SharedStore) func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		DeleteAllRows(t, d.DB)
		test(d)(t)
	})
}

// kindOf is the type of a canonical line, which begins with it.
func LineType(line string) string { return strings.Split(line, `"`)[3] }

// line is a line of the shop.
func ShopLine(kind, id string) string {
	for _, line := range ShopLines() {
		if strings.HasPrefix(line, fmt.Sprintf(`{"type":%q,"id":%q,`, kind, id)) {
			return line
		}
	}
	panic("the shop has no " + kind + " " + id)
}

// wipe empties the tables behind the store's back; numbers go on as they were.
func DeleteAllRows(t require.TestingT, db *sql.DB) {
	Transact(t, db, func(run func(query string, args ...any)) {
		for _, table := range []string{"file", "product", "hierarchy", "node", "node_product", "pricebook", "price", "price_modifier", "catalog",
			"catalog_rule", "stock", "stock_deleted", "stock_transaction", "promotion", "promotion_code", "code_claim", "promotion_purge", "promotion_archive", "code_usage", "code_usage_total", "gateway", "api_client",
			"release", "release_product", "release_row", "release_node", "release_file", "release_list", "release_chunk", "release_index", "release_place", "document", "document_hash"} {
			run(`DELETE FROM ` + table)
		}
		run(`UPDATE counter SET value = 0 WHERE name = 'stock'`)
		run(`UPDATE settings SET page_length = 25, currency = 'USD', locale = 'en'`)
	})
}

// requireStockKept holds every balance against the sum of its ledger, also
// where there is none, and the number of records against the counter.
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
