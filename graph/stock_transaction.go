package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/stock"
)

func (r queryResolver) StockTransactions(ctx context.Context, productID string, filter *model.ListBounds, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.StockTransactionConnection, error) {
	if err := auth.Require(ctx, "Query.stockTransactions"); err != nil {
		return nil, err
	}
	return pageOfRows[model.StockTransaction](r.store.Stock.Transactions(ctx, store.LocalID(productID),
		store.ListQuery{Sort: orderBy.Sort(), Ranges: filter.Ranges(), Page: pageOf(first, after, last, before, offset)}))
}

func (r queryResolver) StockTransaction(ctx context.Context, productID, id string) (*model.StockTransaction, error) {
	if err := auth.Require(ctx, "Query.stockTransaction"); err != nil {
		return nil, err
	}
	entry, err := r.store.Stock.Transaction(ctx, store.LocalID(productID), id)
	return orNull(singleRow[model.StockTransaction](entry, err))
}

// Product reads the products of all transactions at once.
func (r transactionResolver) Product(ctx context.Context, obj *model.StockTransaction) (*model.Product, error) {
	if err := auth.Require(ctx, "StockTransaction.product"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.BatchRow, "product", r.Resolver, productsOfRows)
}

// Stock returns the same record for all transactions of a product, so that client caches get one value
// for its id.
func (r transactionResolver) Stock(ctx context.Context, obj *model.StockTransaction) (*model.Stock, error) {
	if obj.Stock != nil {
		return obj.Stock, nil
	}
	if err := auth.Require(ctx, "StockTransaction.stock"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.BatchRow, "stock", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.StockTransaction) ([]*model.Stock, error) {
		return r.stocksOf(ctx, mapRows(all, (*model.StockTransaction).OfProduct))
	})
}

// transactionRows returns the transactions that a mutation wrote. The stock of each product is that of
// its last transaction.
func transactionRows(entries []*stock.Transaction) []*model.StockTransaction {
	last := map[string]*stock.Stock{}
	for _, entry := range entries {
		last[entry.ProductID] = entry.Stock
	}
	ids := idsOf(entries, func(l *stock.Transaction) []string { return one(l.ProductID) })
	stocks := map[string]*model.Stock{}
	for _, record := range model.NewBatch[model.Stock](valuesByID(ids, last)) {
		stocks[record.ProductID] = record
	}
	rows := model.NewBatch[model.StockTransaction](entries)
	for _, row := range rows {
		row.Stock = stocks[row.ProductID]
	}
	return rows
}
