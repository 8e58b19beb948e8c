package graph

import (
	"context"
	"fmt"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/stock"
)

func (r queryResolver) Stock(ctx context.Context, productID string) (*model.Stock, error) {
	if err := auth.Require(ctx, "Query.stock"); err != nil {
		return nil, err
	}
	record, err := r.store.Stock.Get(ctx, store.LocalID(productID))
	return orNull(singleRow[model.Stock](record, err))
}

func (r queryResolver) Stocks(ctx context.Context, filter *model.ListBounds, available *model.IntBounds, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.StockConnection, error) {
	if err := auth.Require(ctx, "Query.stocks"); err != nil {
		return nil, err
	}
	return pageOfRows[model.Stock](r.store.Stock.List(ctx, store.ListQuery{Sort: orderBy.Sort(), Ranges: append(filter.Ranges(), available.Ranges(store.SortAvailable)...), Page: pageOf(first, after, last, before, offset)}))
}

// StockPage is Stocks for REST, without cursors.
func (r *Resolver) StockPage(ctx context.Context, filter *model.ListBounds, available *model.IntBounds, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*stock.Page, error) {
	if err := auth.Require(ctx, "Query.stocks"); err != nil {
		return nil, err
	}
	return r.store.Stock.Page(ctx, store.ListQuery{Sort: orderBy.Sort(), Ranges: append(filter.Ranges(), available.Ranges(store.SortAvailable)...), Page: pageOf(first, after, last, before, offset)})
}

// maxStocks is the largest number of ids of Query.stocksById and Subscription.stockChanged.
const maxStocks = store.MaxPageLength

func (r queryResolver) StocksByID(ctx context.Context, productIds []string) ([]*model.Stock, error) {
	if err := auth.Require(ctx, "Query.stocksById"); err != nil {
		return nil, err
	}
	if len(productIds) > maxStocks {
		return nil, tooMany("product_ids", len(productIds), maxStocks)
	}
	ids := idsOf(productIds, func(id string) []string { return one(store.LocalID(id)) })
	found, err := r.store.Stock.ByID(ctx, ids)
	return model.NewBatch[model.Stock](valuesByID(ids, found)), err
}

func (r stockResolver) Product(ctx context.Context, obj *model.Stock) (*model.Product, error) {
	if err := auth.Require(ctx, "Stock.product"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.BatchRow, "product", r.Resolver, productsOfRows)
}

// productsOfRows returns the product that each row names; nil for one that the catalog does not have.
func productsOfRows[T interface{ OfProduct() string }](r *Resolver, ctx context.Context, all []T) ([]*model.Product, error) {
	ids := mapRows(all, T.OfProduct)
	products, err := r.ProductsByID(ctx, unique(ids), nil)
	return model.ValuesByKey(ids, products), err
}

func (r stockResolver) Transactions(ctx context.Context, obj *model.Stock, first int) ([]*model.StockTransaction, error) {
	if err := auth.Require(ctx, "Stock.transactions"); err != nil {
		return nil, err
	}
	if first < store.MinPageLength || first > store.MaxPageLength {
		return nil, outOfBounds("first", first, store.MinPageLength, store.MaxPageLength)
	}
	entries, err := model.LoadBy(ctx, obj.BatchRow, edgeKey("transactions", first), r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Stock) ([][]*stock.Transaction, error) {
		ids := mapRows(all, (*model.Stock).OfProduct)
		entries, err := r.store.Stock.TransactionsByProduct(ctx, unique(ids), first)
		return model.ValuesByKey(ids, entries), err
	})
	return model.NewBatch[model.StockTransaction](entries), err
}

func (r mutationResolver) StockCreate(ctx context.Context, input generated.StockCreateInput) (*generated.StockCreatePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.stockCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	stored, err := r.store.Stock.Create(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ProductID), input.Quantity)
	userErrs, err := userErrors(err)
	payload := &generated.StockCreatePayload{UserErrors: userErrs, Warnings: []*model.Warning{}}
	if stored == nil {
		return payload, err
	}
	payload.Stock = model.NewBatch[model.Stock]([]*stock.Stock{stored})[0]
	known, err := r.store.Catalogs.ProductExists(ctx, stored.ProductID)
	if err == nil && !known {
		payload.Warnings = append(payload.Warnings, &model.Warning{UserError: model.UserError{Error: &store.Error{Path: []string{"product_id"},
			Detail: fmt.Sprintf("names a product that does not exist: %q; create the product, or delete the record with stockDelete", stored.ProductID)}}})
	}
	return payload, err
}

func (r mutationResolver) StockDelete(ctx context.Context, input generated.StockDeleteInput) (*generated.ObjectDeletePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.stockDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	id := store.LocalID(input.ProductID)
	gone, userErrs, err := deletion(store.TypeStock, id, r.store.Stock.Delete(ctx, auth.PrincipalFrom(ctx).Actor(), id))
	return &generated.ObjectDeletePayload{DeletedID: gone, UserErrors: userErrs}, err
}

func (r mutationResolver) StockTransact(ctx context.Context, input generated.StockTransactInput) (*generated.StockTransactPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.stockTransact", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	changes := valuesOf(input.Changes)
	for i := range changes {
		changes[i].ProductID = store.LocalID(changes[i].ProductID)
	}
	entries, err := r.store.Stock.Transact(ctx, auth.PrincipalFrom(ctx).Actor(), changes)
	userErrs, err := userErrors(err)
	return &generated.StockTransactPayload{Transactions: transactionRows(entries), UserErrors: userErrs}, err
}

func (r queryResolver) StockLocations(ctx context.Context) ([]*stock.Location, error) {
	if err := auth.Require(ctx, "Query.stockLocations"); err != nil {
		return nil, err
	}
	return r.store.Stock.Locations(), nil
}
