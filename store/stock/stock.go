// Package stock is how much there is of each product, the ledger of its
// changes, and the stock of all products in memory. It may import the words of
// store, store/authoring and store/db.
package stock

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"

	"portico/store"
	"portico/store/db"
)

// StockService is the stock of one database, and its ledger.
type StockService struct {
	db         *db.DB
	live       *liveStock   // nil for none
	lane       atomic.Value // db.Topic: the one that this process took last
	told       atomic.Int64 // writes that left word
	sales      *stockQueue
	stockWatch *stockWatch
}

// NewStockService keeps all stock in so many bytes of memory; 0 is none.
func NewStockService(d *db.DB, bytes uint64) *StockService {
	s := &StockService{db: d, stockWatch: newStockWatch(), live: newLiveStock(bytes, d.Log)}
	s.sales = newStockQueue(s)
	return s
}

// Drop forgets the stock in memory: it may be another by now.
func Drop(s *StockService) { s.live.drop() }

// Doubt forgets the stock in memory, and reads it twice before it is used again:
// the database may be another one.
func Doubt(s *StockService) { s.live.doubt() }

// Forget has those who watch stock be told the states of another database, whose
// revisions may be lower. Only the poll may call it.
func Forget(s *StockService) {
	s.stockWatch.Reset()
	s.stockWatch.lanes, s.stockWatch.behind = nil, true
	s.live.doubt() // what was loaded meanwhile
}

// Stock is how many units of a product there are (spec: Stock record).
// Available and Allocated are never negative; their sum is at most MaxStock.
type Stock struct {
	ProductID string
	Available int // units free to sell
	Allocated int // units promised to orders
	CreatedAt time.Time
	UpdatedAt time.Time
}

// GlobalID is the stock record's id over all types.
func (s *Stock) GlobalID() string { return store.GlobalID(store.TypeStock, s.ProductID) }

// Total is all units: available and allocated.
func (s *Stock) Total() int { return s.Available + s.Allocated }

const stockColumns = `product_id, available, allocated, created_at, updated_at`

func scanStock(rows *sql.Rows) (*Stock, error) {
	s := &Stock{}
	var created, updated int64
	err := rows.Scan(&s.ProductID, &s.Available, &s.Allocated, &created, &updated)
	s.CreatedAt, s.UpdatedAt = store.FromMicros(created), store.FromMicros(updated)
	return s, err
}

// stockRow is a state of a record. Its revision is above those of all states
// before.
type stockRow struct {
	Stock
	revision int64
	revised  bool // since it was read
	deleted  bool
	entered  int // lines of the ledger, since then
}

const stockRowColumns = stockColumns + `, revision`

// stockRowInsertColumns are those of a row that is written. How many lines a
// product's ledger has stands with it, for whoever enters one writes the row
// anyway; a total that is asked for need not count them.
const stockRowInsertColumns = stockRowColumns + `, lines`

func scanStockRow(rows *sql.Rows) (row stockRow, err error) {
	var created, updated int64
	err = rows.Scan(&row.ProductID, &row.Available, &row.Allocated, &created, &updated, &row.revision)
	row.CreatedAt, row.UpdatedAt = store.FromMicros(created), store.FromMicros(updated)
	return row, err
}

// values appends those of its columns.
func (r *stockRow) values(to []any) []any {
	return append(to, r.ProductID, r.Available, r.Allocated, store.Micros(r.CreatedAt), store.Micros(r.UpdatedAt), r.revision, r.entered)
}

// stockRows reads records by their ids, at most 512, in order.
func stockRows(ctx context.Context, from db.Session, ids []string, lock string) ([]stockRow, error) {
	list, args := db.InList(nil, ids)
	return db.Collect(ctx, from, scanStockRow,
		`SELECT `+stockRowColumns+` FROM stock WHERE product_id IN (`+list+`) ORDER BY product_id`+lock, args...)
}

// Stock returns the stock of a product; NOT_FOUND when it has no record.
func (s *StockService) Stock(ctx context.Context, productID string) (*Stock, error) {
	column, err := s.StockColumn(ctx, []string{productID})
	if err == nil && column[0] == nil {
		return nil, store.NotFoundf(nil, "There is no stock record for the product %q.", store.Abbreviate(productID))
	}
	if err != nil {
		return nil, err
	}
	return column[0], nil
}

// StocksByID returns the stock of several products; one without a record is
// left out.
func (s *StockService) StocksByID(ctx context.Context, productIDs []string) (map[string]*Stock, error) {
	column, err := s.StockColumn(ctx, productIDs)
	byID := make(map[string]*Stock, len(column))
	for i, stock := range column {
		if stock != nil {
			byID[productIDs[i]] = stock
		}
	}
	return byID, err
}

// StockColumn returns the stock of several products in the order of their ids,
// nil for one without a record. From memory (Config.StockBytes) it takes two
// allocations and some 100 ns a product; else a statement for every 512.
func (s *StockService) StockColumn(ctx context.Context, productIDs []string) ([]*Stock, error) {
	if err := ctx.Err(); err != nil { // as where the database is asked
		return nil, err
	}
	column := make([]*Stock, len(productIDs))
	if s.live.look(func(cells *stockCells) { cells.column(productIDs, column) }) {
		return column, nil
	}
	byID := make(map[string]*Stock, len(productIDs))
	err := store.Chunked(store.ValidIDs(productIDs), 512, func(ids []string) error {
		list, args := db.InList(nil, ids)
		stocks, err := db.Collect(ctx, s.db.Reader, scanStock,
			`SELECT `+stockColumns+` FROM stock WHERE product_id IN (`+list+`)`, args...)
		for _, stock := range stocks {
			byID[stock.ProductID] = stock
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, id := range productIDs {
		column[i] = byID[id]
	}
	return column, nil
}

// CreateStock makes the stock record of a product, which need not be imported
// yet, with so many units available, and enters them in the ledger.
//
// INVALID for a malformed id; UNPROCESSABLE for a quantity out of bounds, and
// for the name of a resource in place of an id;
// CONFLICT when the product has a record already: it is changed by
// transactions only, so that none that were made meanwhile are lost.
func (s *StockService) CreateStock(ctx context.Context, actor store.Actor, productID string, available int) (*Stock, error) {
	opening := StockChange{ProductID: productID, Action: StockSet, Quantity: available}
	if faults := opening.check(); len(faults) > 0 {
		return nil, faults
	}
	if ResourceName(productID) {
		return nil, store.Unprocessablef([]string{"product_id"}, "must be a product's id, not %q, which is the name of a resource", productID)
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*Stock, error) {
		w := &stockWrite{Tx: t, store: s}
		row := &stockRow{Stock: Stock{ProductID: productID, Available: available, CreatedAt: t.Now, UpdatedAt: t.Now}, revision: 1, entered: min(available, 1)}
		fresh, err := t.Insert(ctx, stockRowInsert, 1, func(values []any, _ int) []any { return row.values(values) })
		if err != nil {
			return nil, err
		}
		if fresh == 0 {
			return nil, &store.Error{Code: store.Conflict, Path: []string{"product_id"}, Detail: "has a stock record already: \"" + productID + "\"; change it by a transaction"}
		}
		if _, err := t.Exec(ctx, `UPDATE counter SET value = value + 1 WHERE name = 'stock'`); err != nil {
			return nil, err
		}
		revisions, err := reviveStocks(ctx, t, []string{productID})
		if err != nil {
			return nil, err
		}
		row.revision = max(row.revision, revisions[productID])
		w.rows = []*stockRow{row}
		if available > 0 {
			opening.Action = StockIncrement // from nothing
			w.enter(actor, &opening, row.Stock, available, 0)
		}
		return &row.Stock, w.finish(ctx)
	})
}
