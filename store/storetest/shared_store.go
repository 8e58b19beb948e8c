package storetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/shop"
	"portico/store/storetest/testkit"
)

// SharedStore is a store that subtests use one after the other, each starting without
// resources. The clock goes on. Creating a PostgreSQL database takes longer than most of them.
type SharedStore struct {
	*shop.Store
	Backend Backend // of its database
	DB      *sql.DB
	Clock   *testkit.Clock
}

// NewSharedStore opens a store at Noon.
func NewSharedStore(t *testing.T, backend Backend) *SharedStore {
	t.Helper()
	clock := testkit.NewClock(testkit.Noon)
	return &SharedStore{Store: backend.Open(t, WithClock(clock)), Backend: backend, DB: backend.SQL(t), Clock: clock}
}

// Run empties the tables and runs the subtest that test returns.
func (d *SharedStore) Run(t *testing.T, name string, test func(*SharedStore) func(*testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		DeleteAllRows(t, d.DB)
		test(d)(t)
	})
}

// emptiedTables have resources, and what follows from them. Add each table that a resource is written to. Jobs, sweeps, keys, the
// audit log and rows of releases that no release refers to stay.
var emptiedTables = []string{"file", "attribute", "synonym", "redirect", "path_change", "product", "product_component", "hierarchy", "node", "node_product", "pricebook", "price", "price_modifier", "catalog",
	"catalog_rule", "stock", "stock_deleted", "stock_transaction", "promotion", "promotion_code", "code_claim", "promotion_purge", "promotion_archive", "code_usage", "code_usage_total", "gateway", "api_client",
	"release", "release_block", "release_node", "release_file", "release_list", "release_chunk", "release_index", "release_place"}

// DeleteAllRows empties emptiedTables and resets the settings, without the store: what it has cached stays. Sequences continue, and
// codes match by case.
func DeleteAllRows(t require.TestingT, db *sql.DB) {
	Transact(t, db, func(run func(query string, args ...any)) {
		for _, table := range emptiedTables {
			run(`DELETE FROM ` + table)
		}
		run(`UPDATE counter SET value = 0 WHERE name = 'stock'`)
		run(`UPDATE settings SET page_length = 25, currency = 'USD', locale = 'en', codes_ignore_case = FALSE`)
	})
}

// OpenEmpty opens a store on another, empty database.
func OpenEmpty(t testing.TB, backend Backend) *shop.Store {
	t.Helper()
	s, err := shop.Open(context.Background(), shop.Config{URL: backend.OtherURL(t), Synchronous: "OFF"})
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}
