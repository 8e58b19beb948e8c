package graph

import (
	"context"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store/catalog"
)

// AuthoredProduct returns one product. If several root fields identify theirs by the same member, such as sku, the first reads
// the products of all.
func (r queryResolver) AuthoredProduct(ctx context.Context, by model.AuthoredProductIdentifierInput) (*model.AuthoredProduct, error) {
	if err := auth.Require(ctx, "Query.authoredProduct"); err != nil {
		return nil, err
	}
	argument, key, value := by.Key()
	source, err := opctx.ReadTogether(ctx, "authoredProduct", argument, value, func(ctx context.Context, values []string) (map[string]*catalog.AuthoredProduct, error) {
		return r.store.Catalogs.AuthoredProductsBy(ctx, key, values)
	})
	if source == nil { // absent, or failed: singleRow would make a row of nil
		return nil, err
	}
	return singleRow[model.AuthoredProduct](source, err)
}

func (r queryResolver) AuthoredProducts(ctx context.Context, filter *model.AuthoredProductFilter, orderBy *model.ListOrder, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredProductConnection, error) {
	if err := auth.Require(ctx, "Query.authoredProducts"); err != nil {
		return nil, err
	}
	wanted, err := filter.Filter()
	if err != nil {
		return nil, err
	}
	return pageOfRows[model.AuthoredProduct](r.store.Catalogs.AuthoredProducts(ctx, wanted, orderBy.Sort(), pageOf(first, after, last, before, offset)))
}

// Product reads the products of all rows at once.
func (r authoredProductResolver) Product(ctx context.Context, obj *model.AuthoredProduct) (*model.Product, error) {
	if err := auth.Require(ctx, "AuthoredProduct.product"); err != nil {
		return nil, err
	}
	return model.Load(ctx, obj.BatchRow, "product", r.Resolver, productsOfRows)
}
