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

// CatalogResolution explains this shopper's catalog by the operation's own
// view, or another one's.
func (r queryResolver) CatalogResolution(ctx context.Context, context *model.ShopperContextInput, at *time.Time) (*model.CatalogResolution, error) {
	if err := mayAsk(ctx, context, at); err != nil {
		return nil, err
	}
	explained, err := r.explained(ctx, context, at)
	if err != nil {
		return nil, err
	}
	return model.NewCatalogResolution(explained, auth.Require(ctx, "CatalogCandidate.ruleName") == nil), nil
}

// mayAsk requires the scopes of the arguments that are there.
func mayAsk(ctx context.Context, context *model.ShopperContextInput, at *time.Time) error {
	needed := []string{"Query.catalogResolution"}
	if at != nil {
		needed = append(needed, "Query.catalogResolution(at:)")
	}
	if context != nil && context.AccountID != nil {
		needed = append(needed, "ShopperContextInput.accountId")
	}
	if context != nil && context.AccountTags != nil {
		needed = append(needed, "ShopperContextInput.accountTags")
	}
	if context != nil && context.CustomerID != nil {
		needed = append(needed, "ShopperContextInput.customerId")
	}
	for _, coordinate := range needed {
		if err := auth.Require(ctx, coordinate); err != nil {
			return err
		}
	}
	return nil
}

func (r *Resolver) explained(ctx context.Context, context *model.ShopperContextInput, at *time.Time) (*routing.CatalogResolution, error) {
	if context != nil {
		shopper, err := context.Shopper()
		if err != nil {
			return nil, err
		}
		return r.store.CatalogResolution(ctx, shopper, at)
	}
	if at == nil {
		v, err := r.View(ctx)
		if err == nil {
			return v.Resolution(), nil
		}
		if !store.HasCode(err, store.NotFound) || opctx.Shopper(ctx).ReleaseID != "" { // else nothing is published
			return nil, err
		}
	}
	return r.store.CatalogResolution(ctx, opctx.Shopper(ctx), at)
}
