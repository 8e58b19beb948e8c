package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
)

func (r queryResolver) AuthoredProduct(ctx context.Context, id string) (*model.AuthoredProduct, error) {
	return authoredRow[model.AuthoredProduct](ctx, "authoredProduct", id, r.store.Catalogs.AuthoredProductsByID)
}

func (r queryResolver) AuthoredProducts(ctx context.Context, status *catalog.ProductStatus, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredProductConnection, error) {
	if err := auth.Require(ctx, "Query.authoredProducts"); err != nil {
		return nil, err
	}
	slice, err := r.store.Catalogs.AuthoredProducts(ctx, status, orderBy.Sort(), pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, model.NewBatch[model.AuthoredProduct](slice.Items)), nil
}

// Product reads the products of all rows at once.
func (r authoredProductResolver) Product(ctx context.Context, obj *model.AuthoredProduct) (*model.Product, error) {
	if err := auth.Require(ctx, "AuthoredProduct.product"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.BatchRow, "product", r.Resolver, productsOfRows)
}

func (r queryResolver) CatalogPendingChanges(ctx context.Context, catalogID string, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogPendingChangeConnection, error) {
	if err := auth.Require(ctx, "Query.catalogPendingChanges"); err != nil {
		return nil, err
	}
	pending, err := r.store.Publisher.PendingChanges(ctx, store.LocalID(catalogID), pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewPendingChanges(pending), nil
}
