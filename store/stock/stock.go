// Package stock holds how much of each product there is, the ledger of its changes and
// a cache of all stock in memory. Service reads, writes, watches and sweeps it. It
// may import store, store/authoring and store/db.
package stock

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
)

// MaxStock is the largest total of a stock record.
const MaxStock = store.MaxCount

// Stock is the stock record of a product. Available and Allocated are never negative;
// their sum is at most MaxStock.
type Stock struct {
	ProductID string
	Available int // units for sale
	Allocated int // units reserved for orders
	CreatedAt time.Time
	UpdatedAt time.Time
}

// GlobalID returns the record's global id.
func (s *Stock) GlobalID() string { return store.GlobalID(store.TypeStock, s.ProductID) }

// Total is available plus allocated.
func (s *Stock) Total() int { return s.Available + s.Allocated }

const stockColumns = `product_id, available, allocated, created_at, updated_at`

func scanStock(rows *sql.Rows) (*Stock, error) {
	s := &Stock{}
	var created, updated int64
	err := rows.Scan(&s.ProductID, &s.Available, &s.Allocated, &created, &updated)
	s.CreatedAt, s.UpdatedAt = store.FromMicros(created), store.FromMicros(updated)
	return s, err
}

// stockRow is a version of a record. Later versions have higher revisions.
type stockRow struct {
	Stock
	revision   int64
	changed    bool // changed since it was read
	deleted    bool
	newEntries int // ledger entries added since it was read, by which its ledger becomes longer
}

const stockRowColumns = stockColumns + `, revision`

// stockRowInsertColumns are the columns of an insert. The row stores the length of its
// ledger, because every change writes the row anyway.
const stockRowInsertColumns = stockRowColumns + `, lines`

func scanStockRow(rows *sql.Rows) (row stockRow, err error) {
	var created, updated int64
	err = rows.Scan(&row.ProductID, &row.Available, &row.Allocated, &created, &updated, &row.revision)
	row.CreatedAt, row.UpdatedAt = store.FromMicros(created), store.FromMicros(updated)
	return row, err
}

// values appends the values of stockRowInsertColumns.
func (r *stockRow) values(to []any) []any {
	return append(to, r.ProductID, r.Available, r.Allocated, store.Micros(r.CreatedAt), store.Micros(r.UpdatedAt), r.revision, r.newEntries)
}

// stockRows reads records by id. lock is a suffix such as Tx.ForUpdate, or empty. If ids are sorted, it reads and locks them
// in their order.
func stockRows(ctx context.Context, from db.Session, ids []string, lock string) ([]stockRow, error) {
	return db.CollectIn(ctx, from, scanStockRow, ids,
		`SELECT `+stockRowColumns+` FROM stock WHERE product_id IN ($in) ORDER BY product_id`+lock)
}

// stockStatesOf reads the versions of products, including deleted records.
func stockStatesOf(ctx context.Context, from db.Session, ids []string) ([]stockRow, error) {
	return db.CollectIn(ctx, from, func(rows *sql.Rows) (row stockRow, err error) {
		var created, updated int64
		err = rows.Scan(&row.ProductID, &row.Available, &row.Allocated, &created, &updated, &row.revision, &row.deleted)
		row.CreatedAt, row.UpdatedAt = store.FromMicros(created), store.FromMicros(updated)
		return row, err
	}, ids, `
		SELECT `+stockRowColumns+`, FALSE FROM stock WHERE product_id IN ($in)
		UNION ALL
		SELECT product_id, 0, 0, created_at, deleted_at, revision, TRUE FROM stock_deleted WHERE product_id IN ($in)`)
}
