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
	if err := auth.Require(ctx, "Query.catalogResolution"); err != nil {
		return nil, err
	}
	resolution, err := r.resolution(ctx, shopperContext, at)
	if err != nil {
		return nil, err
	}
	return model.NewCatalogResolution(resolution), nil
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
		if !isUnpublished(ctx, err) {
			return nil, err
		}
	}
	return r.store.Releases.CatalogResolution(ctx, opctx.Shopper(ctx), at)
}

// isUnpublished reports whether a view's error means that nothing is published, and not that there is no such release as the
// shopper asks for.
func isUnpublished(ctx context.Context, err error) bool {
	return store.HasCode(err, store.NotFound) && opctx.Shopper(ctx).ReleaseID == ""
}
