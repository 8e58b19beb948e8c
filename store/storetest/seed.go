package storetest

import (
	"context"
	"database/sql"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
)

// actor is who writes in these tests.
const Actor store.Actor = "client:test"

// noon is when these tests take place, unless a clock moves on.
var Noon = time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)

// SeedStock writes stock records as an import does: the rows, a line in the
// ledger for what each begins with, and the counter. db is Engine.SQL.
func SeedStock(t require.TestingT, db *sql.DB, rows ...stock.Stock) {
	Transact(t, db, func(run func(query string, args ...any)) {
		for _, row := range rows {
			run(`INSERT INTO stock (product_id, available, allocated, created_at, updated_at, lines) VALUES ($1, $2, $3, $4, $5, 1)`,
				row.ProductID, row.Available, row.Allocated, row.CreatedAt.UnixMicro(), row.UpdatedAt.UnixMicro())
			run(`INSERT INTO stock_transaction
				(id, product_id, action, quantity, available_delta, allocated_delta, reason, reference, actor, created_at)
				VALUES ($1, $2, 'set', $3, $4, $5, 'seed', '', 'command:seed', $6)`,
				"seed-"+row.ProductID, row.ProductID, row.Available, row.Available, row.Allocated, row.CreatedAt.UnixMicro())
		}
		run(`UPDATE counter SET value = value + $1 WHERE name = 'stock'`, len(rows))
	})
}

// ClearStock takes every stock record away again, and the ledger.
func ClearStock(t require.TestingT, db *sql.DB) {
	Transact(t, db, func(run func(query string, args ...any)) {
		run(`DELETE FROM stock`)
		run(`DELETE FROM stock_transaction`)
		run(`UPDATE counter SET value = 0 WHERE name = 'stock'`)
	})
}

func Transact(t require.TestingT, db *sql.DB, do func(run func(query string, args ...any))) {
	ctx := context.Background()
	transaction, err := db.BeginTx(ctx, nil)
	require.NoError(t, err)
	defer func() { _ = transaction.Rollback() }()
	do(func(query string, args ...any) {
		_, err := transaction.ExecContext(ctx, query, args...)
		require.NoError(t, err, query)
	})
	require.NoError(t, transaction.Commit())
}

// stocked is a store whose clock shows noon, with one record for each
// product, every one of them with that many units available.
func OpenWithStock(t *testing.T, e Backend, available int, products ...string) *shop.Store {
	t.Helper()
	var rows []stock.Stock
	for _, id := range products {
		rows = append(rows, stock.Stock{ProductID: id, Available: available, CreatedAt: Noon, UpdatedAt: Noon})
	}
	SeedStock(t, e.SQL(t), rows...)
	return e.Open(t, WithClock(NewClock(Noon)))
}

// beside has a store go by a clock of its own, whatever the database's shows.
func WithStoreClock(clock *Clock) func(*shop.Config) {
	return func(config *shop.Config) { config.Clock = clock.Now }
}

// available is what a product has; the test fails when it has no record.
func Available(t require.TestingT, s *shop.Store, product string) int {
	stock, err := s.Stock(context.Background(), product)
	require.NoError(t, err)
	return stock.Available
}

// requireLedger holds every balance against the sum of its ledger.
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

// requireFault holds an error against what its caller may read: the code, the
// member with dots, and words of the sentence.
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
