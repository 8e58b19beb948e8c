package stock

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// Transactions lists the ledger of a product, newest first by default. Entries never
// change and have unordered ids, so sorting by updated_at or id, and ranges of updated_at,
// are INVALID. Ledgers of deleted records stay. It returns NOT_FOUND for a product that
// never had a record.
func (s *Service) Transactions(ctx context.Context, productID string, query store.ListQuery) (*store.Slice[*Transaction], error) {
	for _, r := range query.Ranges {
		if r.Attribute == store.SortUpdatedAt {
			return nil, store.Invalidf([]string{"filter"}, "compares the time of an update, which stock transactions do not have; use the id or the time of creation")
		}
	}
	switch query.Sort.By {
	case store.SortDefault:
		query.Sort = store.Sort{By: store.SortCreatedAt, Descending: true}
	case store.SortCreatedAt:
	default:
		return nil, store.Invalidf([]string{"sort"}, "must be by time of creation")
	}
	if err := s.hasLedger(ctx, productID); err != nil {
		return nil, err
	}
	of := stockTransactionList
	of.Conditions = []db.Condition{{Clause: "product_id = ?", Values: []any{productID}}}
	return db.List(ctx, s.db, of, query)
}

// hasLedger returns NOT_FOUND for a product that never had a record.
func (s *Service) hasLedger(ctx context.Context, productID string) error {
	_, missing := s.Get(ctx, productID) // nil if there is a record
	if !store.HasCode(missing, store.NotFound) || !store.IsID(productID) {
		return missing
	}
	_, deleted, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT deleted_at FROM stock_deleted WHERE product_id = $1`, productID)
	if err == nil && !deleted {
		err = missing
	}
	return err
}

// Transaction returns an entry of a product's ledger, or NOT_FOUND.
func (s *Service) Transaction(ctx context.Context, productID, id string) (*Transaction, error) {
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

var stockTransactionList = db.Listing[*Transaction]{
	Name: "stock_transaction", Columns: stockTransactionColumns, Table: "stock_transaction", ID: "id", Scan: scanStockTransaction,
	TotalSQL: `SELECT lines FROM stock WHERE product_id = $1 UNION ALL SELECT lines FROM stock_deleted WHERE product_id = $1`,
	Key:      func(line *Transaction, _ store.Sort) []any { return []any{store.Micros(line.CreatedAt), line.ID} },
}

// TransactionsByProduct returns the newest entries of several ledgers, newest first,
// at most limit each.
func (s *Service) TransactionsByProduct(ctx context.Context, productIDs []string, limit int) (map[string][]*Transaction, error) {
	lines, err := db.CollectIn(ctx, s.db.Reader, scanStockTransaction, store.ValidIDs(productIDs), `
		SELECT `+stockTransactionColumns+` FROM (
		    SELECT `+stockTransactionColumns+`,
		           ROW_NUMBER() OVER (PARTITION BY product_id ORDER BY created_at DESC, id DESC) AS place
		    FROM stock_transaction WHERE product_id IN ($in)) AS ledger
		WHERE place <= $1
		ORDER BY product_id, created_at DESC, id DESC`, limit)
	byProduct := make(map[string][]*Transaction, len(productIDs))
	for _, line := range lines {
		byProduct[line.ProductID] = append(byProduct[line.ProductID], line)
	}
	return byProduct, err
}
