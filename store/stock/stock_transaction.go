package stock

import (
	"context"
	"database/sql"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
)

// StockTransaction is a line of the ledger: a change that was made. The sum
// of a product's deltas is its balance.
type StockTransaction struct {
	ID             string
	ProductID      string
	Action         StockAction
	Quantity       int
	AvailableDelta int
	AllocatedDelta int
	Reason         string
	Reference      string
	Actor          store.Actor
	CreatedAt      time.Time
	Stock          *Stock // the balance right after; nil when read from the ledger
}

const stockTransactionColumns = `id, product_id, action, quantity, available_delta, allocated_delta, reason, reference, actor, created_at`

func scanStockTransaction(rows *sql.Rows) (*StockTransaction, error) {
	line := &StockTransaction{}
	var created int64
	err := rows.Scan(&line.ID, &line.ProductID, &line.Action, &line.Quantity, &line.AvailableDelta, &line.AllocatedDelta,
		&line.Reason, &line.Reference, &line.Actor, &created)
	line.CreatedAt = store.FromMicros(created)
	return line, err
}

var stockTransactionInsert = strings.Split(stockTransactionColumns, ", ")

// values appends those of its columns.
func (l *StockTransaction) values(to []any) []any {
	return append(to, l.ID, l.ProductID, string(l.Action), l.Quantity, l.AvailableDelta, l.AllocatedDelta,
		l.Reason, l.Reference, string(l.Actor), store.Micros(l.CreatedAt))
}

// StockTransactions lists a product's ledger, newest first unless the query
// sorts it by created_at. Lines are never changed, so they have no updated_at,
// and their ids are in no order: it is INVALID to sort by either, or to bound
// them by updated_at. The ledger of a record that was deleted stays. NOT_FOUND
// for a product that never had a stock record.
func (s *StockService) StockTransactions(ctx context.Context, productID string, query store.ListQuery) (*store.Slice[*StockTransaction], error) {
	for _, r := range query.Ranges {
		if r.Attribute == store.SortUpdatedAt {
			return nil, store.Invalidf([]string{"filter"}, "compares updated_at, which stock transactions have none of; compare id or created_at")
		}
	}
	switch query.Sort.By {
	case store.SortDefault:
		query.Sort = store.Sort{By: store.SortCreatedAt, Descending: true}
	case store.SortCreatedAt:
	default:
		return nil, store.Invalidf([]string{"sort"}, "must be created_at, not %s", query.Sort.By)
	}
	if err := s.hasLedger(ctx, productID); err != nil {
		return nil, err
	}
	of := stockTransactionList
	of.Conditions = []db.Condition{{Clause: "product_id = ?", Values: []any{productID}}}
	return db.List(ctx, s.db, of, query)
}

func (s *StockService) hasLedger(ctx context.Context, productID string) error {
	_, missing := s.Stock(ctx, productID)
	if !store.HasCode(missing, store.NotFound) || !store.IsID(productID) {
		return missing
	}
	_, deleted, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT deleted_at FROM stock_deleted WHERE product_id = $1`, productID)
	if err == nil && !deleted {
		err = missing
	}
	return err
}

// StockTransaction returns a line of a product's ledger; NOT_FOUND when the
// product has none with that id.
func (s *StockService) StockTransaction(ctx context.Context, productID, id string) (*StockTransaction, error) {
	unknown := store.NotFoundf(nil, "There is no stock transaction %q of the product %q.", store.Abbreviate(id), store.Abbreviate(productID))
	if !store.IsID(productID) || !store.IsID(id) {
		return nil, unknown
	}
	line, found, err := db.One(ctx, s.db.Reader, scanStockTransaction,
		`SELECT `+stockTransactionColumns+` FROM stock_transaction WHERE id = $1 AND product_id = $2`, id, productID)
	if err == nil && !found {
		err = unknown
	}
	return line, err
}

var stockTransactionList = db.Listing[*StockTransaction]{
	Name: "stock_transaction", Columns: stockTransactionColumns, Table: "stock_transaction", ID: "id", Scan: scanStockTransaction,
	TotalSQL: `SELECT lines FROM stock WHERE product_id = $1 UNION ALL SELECT lines FROM stock_deleted WHERE product_id = $1`,
	Key:      func(line *StockTransaction, _ store.Sort) []any { return []any{store.Micros(line.CreatedAt), line.ID} },
}

// StockTransactionsByProduct returns the newest lines of several products'
// ledgers, newest first, at most limit for each.
func (s *StockService) StockTransactionsByProduct(ctx context.Context, productIDs []string, limit int) (map[string][]*StockTransaction, error) {
	byProduct := make(map[string][]*StockTransaction, len(productIDs))
	err := store.Chunked(store.ValidIDs(productIDs), 512, func(ids []string) error {
		list, args := db.InList([]any{limit}, ids)
		lines, err := db.Collect(ctx, s.db.Reader, scanStockTransaction, `
			SELECT `+stockTransactionColumns+` FROM (
			    SELECT `+stockTransactionColumns+`,
			           ROW_NUMBER() OVER (PARTITION BY product_id ORDER BY created_at DESC, id DESC) AS place
			    FROM stock_transaction WHERE product_id IN (`+list+`)) AS ledger
			WHERE place <= $1
			ORDER BY product_id, created_at DESC, id DESC`, args...)
		for _, line := range lines {
			byProduct[line.ProductID] = append(byProduct[line.ProductID], line)
		}
		return err
	})
	return byProduct, err
}
