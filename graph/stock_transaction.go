package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
)

func (r queryResolver) StockTransactions(ctx context.Context, productID string, filter *model.ListBounds, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.StockTransactionConnection, error) {
	if err := auth.Require(ctx, "Query.stockTransactions"); err != nil {
		return nil, err
	}
	slice, err := r.store.StockTransactions(ctx, store.LocalID(productID),
		store.ListQuery{Sort: orderBy.Sort(), Ranges: filter.Ranges(), Page: page(first, after, last, before, offset)})
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, dressed(slice.Items, ledger)), nil
}

func (r queryResolver) StockTransaction(ctx context.Context, productID, id string) (*model.StockTransaction, error) {
	if err := auth.Require(ctx, "Query.stockTransaction"); err != nil {
		return nil, err
	}
	line, err := r.store.StockTransaction(ctx, store.LocalID(productID), id)
	return orNull(single(line, err, ledger))
}
