package storetest

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store"
	"portico/store/shop"
	"portico/store/stock"
	"portico/store/storetest/testkit"
)

// SeedStock writes stock records as an import does: the rows, the first ledger entry of each
// and the counter. db is Backend.SQL.
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

// ClearStock deletes all stock records and the ledger.
func ClearStock(t require.TestingT, db *sql.DB) {
	Transact(t, db, func(run func(query string, args ...any)) {
		run(`DELETE FROM stock`)
		run(`DELETE FROM stock_transaction`)
		run(`UPDATE counter SET value = 0 WHERE name = 'stock'`)
	})
}

// OpenWithStock opens a store at Noon with a stock record for each product.
func OpenWithStock(t *testing.T, backend Backend, available int, products ...string) *shop.Store {
	t.Helper()
	var rows []stock.Stock
	for _, id := range products {
		rows = append(rows, stock.Stock{ProductID: id, Available: available, CreatedAt: testkit.Noon, UpdatedAt: testkit.Noon})
	}
	SeedStock(t, backend.SQL(t), rows...)
	return backend.Open(t, WithClock(testkit.NewClock(testkit.Noon)))
}

// ReadStock returns a product's stock record.
func ReadStock(t require.TestingT, s *shop.Store, product string) *stock.Stock {
	record, err := s.Stock.Get(context.Background(), product)
	require.NoError(t, err)
	return record
}

// Available returns a product's available units.
func Available(t require.TestingT, s *shop.Store, product string) int {
	return ReadStock(t, s, product).Available
}

// RefreshStock makes a store read what a test wrote without it.
func RefreshStock(t require.TestingT, s *shop.Store) {
	require.NoError(t, s.Stock.Warm(context.Background()))
}

// LatestAvailable returns a product's available units, including writes of other stores.
func LatestAvailable(t require.TestingT, s *shop.Store, product string) int {
	RefreshStock(t, s)
	return Available(t, s, product)
}

// StockUnits returns a product's available and allocated units.
func StockUnits(t *testing.T, s *shop.Store, product string) []int {
	t.Helper()
	found, err := s.Stock.Get(t.Context(), product)
	require.NoError(t, err)
	return []int{found.Available, found.Allocated}
}

// TransactStock makes stock changes that must succeed.
func TransactStock(t *testing.T, s *shop.Store, changes ...stock.Change) {
	t.Helper()
	_, err := s.Stock.Transact(t.Context(), Actor, changes)
	require.NoError(t, err)
}

// Increment adds one unit to each product.
func Increment(ctx context.Context, s *shop.Store, products ...string) error {
	var batch []stock.Change
	for _, product := range products {
		batch = append(batch, stock.Change{ProductID: product, Action: stock.StockIncrement, Quantity: 1})
	}
	_, err := s.Stock.Transact(ctx, Actor, batch)
	return err
}

// IncrementWithKey adds one unit to product "a" under an idempotency key, and reports whether
// it was a replay.
func IncrementWithKey(t *testing.T, s *shop.Store, by store.Actor, key string) (replayed bool, err error) {
	t.Helper()
	var replays atomic.Int64
	change := []stock.Change{{ProductID: "a", Action: stock.StockIncrement, Quantity: 1}}
	_, err = s.Stock.Transact(WithIdempotencyKey(t.Context(), key, "o", change, &replays), by, change)
	return replays.Load() > 0, err
}

// WithIdempotencyKey returns a context with an idempotency key. It counts replays in replayed.
func WithIdempotencyKey(ctx context.Context, key, operation string, input any, replayed *atomic.Int64) context.Context {
	return store.WithIdempotencyKey(ctx, &store.IdempotencyKey{Key: key, Operation: operation, Input: input, Replayed: func() { replayed.Add(1) }})
}

// StockCursor returns the cursor of the first stock record.
func StockCursor(t *testing.T, s *shop.Store, sort store.Sort) string {
	t.Helper()
	slice, err := s.Stock.List(t.Context(), store.ListQuery{Sort: sort, Page: store.Page{First: new(1)}})
	require.NoError(t, err)
	require.Len(t, slice.Cursors(), 1)
	return slice.Cursors()[0]
}

// LedgerTotal returns the total of a product's ledger.
func LedgerTotal(t require.TestingT, ctx context.Context, s *shop.Store, product string, ranges ...store.Range) int {
	page, err := s.Stock.Transactions(ctx, product, store.ListQuery{Ranges: ranges})
	require.NoError(t, err)
	n, err := page.Total(ctx)
	require.NoError(t, err)
	return n
}
