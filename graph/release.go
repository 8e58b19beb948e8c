package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
)

func (r queryResolver) CatalogReleases(ctx context.Context, catalogID string) ([]*model.CatalogRelease, error) {
	if err := auth.Require(ctx, "Query.catalogReleases"); err != nil {
		return nil, err
	}
	releases, err := r.store.Releases(ctx, store.LocalID(catalogID))
	return model.NewBatch[model.CatalogRelease](releases), err
}

func (r releaseResolver) Served(ctx context.Context, obj *model.CatalogRelease) (bool, error) {
	return r.store.Served(ctx, obj.Release)
}

// Catalog reads the catalogs of all releases at once.
func (r releaseResolver) Catalog(ctx context.Context, obj *model.CatalogRelease) (*catalog.Catalog, error) {
	return catalogOf(ctx, r.Resolver, "CatalogRelease.catalog", obj.BatchRow)
}

func (r mutationResolver) CatalogPublish(ctx context.Context, input generated.CatalogPublishInput) (*generated.CatalogPublishPayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.catalogPublish", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	job, err := r.store.PublishLater(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.CatalogID), input.Serve)
	userErrs, err := userErrors(err)
	return &generated.CatalogPublishPayload{Job: jobOf(job), UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogReleaseServe(ctx context.Context, input generated.CatalogReleaseServeInput) (*generated.CatalogReleaseServePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.catalogReleaseServe", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	release, err := singleRow[model.CatalogRelease](r.store.ServeRelease(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ReleaseID)))
	userErrs, err := userErrors(err)
	return &generated.CatalogReleaseServePayload{Release: release, UserErrors: userErrs}, err
}
