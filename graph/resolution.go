package graph

import (
	"context"
	"time"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/release/routing"
)

// CatalogResolution explains which catalog this or another shopper sees, and why.
func (r queryResolver) CatalogResolution(ctx context.Context, shopperContext *model.ShopperContextInput, at *time.Time) (*model.CatalogResolution, error) {
	if err := requireResolution(ctx, shopperContext, at); err != nil {
		return nil, err
	}
	resolution, err := r.resolution(ctx, shopperContext, at)
	if err != nil {
		return nil, err
	}
	return model.NewCatalogResolution(resolution, auth.Require(ctx, "rule for other shoppers") == nil), nil
}

// requireResolution requires the scopes of the given arguments.
func requireResolution(ctx context.Context, shopperContext *model.ShopperContextInput, at *time.Time) error {
	needed := []string{"Query.catalogResolution"}
	if at != nil {
		needed = append(needed, "Query.catalogResolution(at:)")
	}
	if shopperContext != nil && shopperContext.AccountID != nil {
		needed = append(needed, "ShopperContextInput.accountId")
	}
	if shopperContext != nil && shopperContext.AccountTags != nil {
		needed = append(needed, "ShopperContextInput.accountTags")
	}
	if shopperContext != nil && shopperContext.CustomerID != nil {
		needed = append(needed, "ShopperContextInput.customerId")
	}
	for _, coordinate := range needed {
		if err := auth.Require(ctx, coordinate); err != nil {
			return err
		}
	}
	return nil
}

// resolution returns the resolution of the operation's view, or of other arguments.
func (r *Resolver) resolution(ctx context.Context, shopperContext *model.ShopperContextInput, at *time.Time) (*routing.CatalogResolution, error) {
	if shopperContext != nil {
		shopper, err := shopperContext.Shopper()
		if err != nil {
			return nil, err
		}
		return r.store.Releases.CatalogResolution(ctx, shopper, at)
	}
	if at == nil {
		v, err := r.View(ctx)
		if err == nil {
			return v.Resolution(), nil
		}
		if !store.HasCode(err, store.NotFound) || opctx.Shopper(ctx).ReleaseID != "" { // otherwise nothing is published
			return nil, err
		}
	}
	return r.store.Releases.CatalogResolution(ctx, opctx.Shopper(ctx), at)
}
