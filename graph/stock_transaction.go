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
	slice, err := r.store.StockTransactions(ctx, store.LocalID(productID),
		store.ListQuery{Sort: orderBy.Sort(), Ranges: filter.Ranges(), Page: pageOf(first, after, last, before, offset)})
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, model.Siblings[model.StockTransaction](slice.Items)), nil
}

func (r queryResolver) StockTransaction(ctx context.Context, productID, id string) (*model.StockTransaction, error) {
	if err := auth.Require(ctx, "Query.stockTransaction"); err != nil {
		return nil, err
	}
	line, err := r.store.StockTransaction(ctx, store.LocalID(productID), id)
	return orNull(alone[model.StockTransaction](line, err))
}

// Stock is one record for all lines of a product, however they were read: what
// a cache keeps under its id never differs within an answer.
func (r transactionResolver) Stock(ctx context.Context, obj *model.StockTransaction) (*model.Stock, error) {
	if obj.Stock != nil {
		return obj.Stock, nil
	}
	if err := auth.Require(ctx, "StockTransaction.stock"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.Sibling, "stock", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.StockTransaction) ([]*model.Stock, error) {
		return r.stocksOf(ctx, keysOf(all, func(l *model.StockTransaction) string { return l.ProductID }))
	})
}

// written are the lines that a mutation wrote, with the balances that all its
// changes left: each product's is that of its last line.
func written(made []*stock.StockTransaction) []*model.StockTransaction {
	last := map[string]*stock.Stock{}
	for _, line := range made {
		last[line.ProductID] = line.Stock
	}
	ids := idsOf(made, func(l *stock.StockTransaction) []string { return one(l.ProductID) })
	stocks := map[string]*model.Stock{}
	for _, stock := range model.Siblings[model.Stock](pick(ids, last)) {
		stocks[stock.ProductID] = stock
	}
	lines := model.Siblings[model.StockTransaction](made)
	for _, line := range lines {
		line.Stock = stocks[line.ProductID]
	}
	return lines
}
