package store

import "context"

// StockTransactions lists a product's ledger, newest first unless the query
// sorts it by created_at. Lines are never changed, so they have no updated_at,
// and their ids are in no order: it is INVALID to sort by either, or to bound
// them by updated_at. NOT_FOUND for a product without a stock record.
func (s *Store) StockTransactions(ctx context.Context, productID string, query ListQuery) (*Slice[*StockTransaction], error) {
	for _, r := range query.Ranges {
		if r.Attribute == SortUpdatedAt {
			return nil, invalid([]string{"filter"}, "compares updated_at, which stock transactions have none of; compare id or created_at")
		}
	}
	switch query.Sort.By {
	case SortDefault:
		query.Sort = Sort{SortCreatedAt, true}
	case SortCreatedAt:
	default:
		return nil, invalid([]string{"sort"}, "must be created_at, not %s", query.Sort.By)
	}
	if _, err := s.Stock(ctx, productID); err != nil {
		return nil, err
	}
	of := stockTransactionList
	of.within = []within{{"product_id = ?", []any{productID}}}
	return list(ctx, s, of, query)
}

// StockTransaction returns a line of a product's ledger; NOT_FOUND when the
// product has none with that id.
func (s *Store) StockTransaction(ctx context.Context, productID, id string) (*StockTransaction, error) {
	unknown := notFound(nil, "There is no stock transaction %q of the product %q.", short(id), short(productID))
	if !isID(productID) || !isID(id) {
		return nil, unknown
	}
	line, found, err := one(ctx, s.reader, scanStockTransaction,
		`SELECT `+stockTransactionColumns+` FROM stock_transaction WHERE id = $1 AND product_id = $2`, id, productID)
	if err == nil && !found {
		err = unknown
	}
	return line, err
}

var stockTransactionList = listing[*StockTransaction]{
	name: "stock_transaction", columns: stockTransactionColumns, table: "stock_transaction", id: "id", scan: scanStockTransaction,
	key: func(line *StockTransaction, _ Sort) []any { return []any{micros(line.CreatedAt), line.ID} },
}
