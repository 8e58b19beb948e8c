package graph

import (
	"context"

	"portico/graph/generated"
	"portico/graph/model"
	"portico/graph/opctx"
	"portico/internal/auth"
	"portico/store"
	"portico/store/publish"
	"portico/store/publish/compare"
	"portico/store/release/segment"
)

func (r queryResolver) CatalogReleases(ctx context.Context, catalogID string) ([]*model.CatalogRelease, error) {
	if err := auth.Require(ctx, "Query.catalogReleases"); err != nil {
		return nil, err
	}
	releases, err := r.store.Releases.List(ctx, store.LocalID(catalogID))
	return model.NewBatch[model.CatalogRelease](releases), err
}

// CatalogRelease returns a stored release, or the one that the shopper sees.
func (r queryResolver) CatalogRelease(ctx context.Context, id *string) (*model.CatalogRelease, error) {
	if id != nil {
		if err := auth.Require(ctx, "Query.catalogRelease(id:)"); err != nil {
			return nil, err
		}
		return orNull(singleRow[model.CatalogRelease](r.store.Releases.Get(ctx, store.LocalID(*id))))
	}
	if err := auth.Require(ctx, "Query.catalogRelease"); err != nil {
		return nil, err
	}
	v, err := r.View(ctx)
	switch {
	case isUnpublished(ctx, err):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return singleRow[model.CatalogRelease](v.Release, nil)
}

// diffProducts is the most products that a request compares one by one.
const diffProducts = 20_000

func (r queryResolver) CatalogReleaseDiff(ctx context.Context, fromID, toID string, first int) (*compare.DifferenceSummary, error) {
	if err := auth.Require(ctx, "Query.catalogReleaseDiff"); err != nil {
		return nil, err
	}
	if err := store.CheckLimit("first", first); err != nil {
		return nil, err
	}
	found, err := r.store.Publisher.DiffReleases(ctx, store.LocalID(fromID), store.LocalID(toID), first, diffProducts)
	if err != nil {
		return nil, err
	}
	return model.ReleaseDiff(found.Summary()), nil
}

// Currencies reads the currencies of all releases at once.
func (r releaseResolver) Currencies(ctx context.Context, obj *model.CatalogRelease) ([]string, error) {
	return model.Load(ctx, obj.BatchRow, "currencies", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.CatalogRelease) ([][]string, error) {
		releases := make([]*segment.Release, len(all))
		for i, row := range all {
			releases[i] = row.Release
		}
		return r.store.Releases.CurrenciesOf(ctx, releases)
	})
}

func (r releaseResolver) Served(ctx context.Context, obj *model.CatalogRelease) (bool, error) {
	return r.store.Releases.Served(ctx, obj.Release)
}

func (r releaseResolver) Label(ctx context.Context, obj *model.CatalogRelease) (*string, error) {
	return ofPublisher(ctx, "CatalogRelease.label", obj.Label)
}

func (r releaseResolver) Note(ctx context.Context, obj *model.CatalogRelease) (*string, error) {
	return ofPublisher(ctx, "CatalogRelease.note", obj.Note)
}

func (r releaseResolver) Actor(ctx context.Context, obj *model.CatalogRelease) (*string, error) {
	return ofPublisher(ctx, "CatalogRelease.actor", string(obj.Actor))
}

func (r releaseResolver) Bytes(ctx context.Context, obj *model.CatalogRelease) (*float64, error) {
	return ofPublisher(ctx, "CatalogRelease.bytes", float64(obj.Release.Bytes))
}

// ofPublisher returns a member of a release that is not for shoppers; nil for none. It needs the scope of its coordinate.
func ofPublisher[T comparable](ctx context.Context, coordinate string, value T) (*T, error) {
	if err := auth.Require(ctx, coordinate); err != nil || value == *new(T) {
		return nil, err
	}
	return &value, nil
}

// CatalogName returns the catalog's name from the table that routes shoppers, which is in memory.
func (r releaseResolver) CatalogName(ctx context.Context, obj *model.CatalogRelease) (*string, error) {
	table, err := r.store.Releases.Table(ctx)
	if err != nil {
		return nil, err
	}
	if named := table.Catalog(obj.CatalogID); named != nil {
		return &named.Name, nil
	}
	return nil, nil
}

// Catalog reads the catalogs of all releases at once.
func (r releaseResolver) Catalog(ctx context.Context, obj *model.CatalogRelease) (*model.Catalog, error) {
	return catalogOf(ctx, r.Resolver, "CatalogRelease.catalog", obj.BatchRow)
}

func (r mutationResolver) CatalogPublish(ctx context.Context, input generated.CatalogPublishInput) (*generated.JobPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogPublish", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	request := publish.PublicationRequest{Serve: input.Serve, DryRun: input.DryRun, Notes: publish.ReleaseNotes{Label: deref(input.Label), Note: deref(input.Note)}, At: deref(input.At)}
	job, err := r.store.Publisher.RequestPublication(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.CatalogID), request)
	userErrs, err := userErrors(err)
	return &generated.JobPayload{Job: jobOf(job), UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogReleaseServe(ctx context.Context, input generated.CatalogReleaseServeInput) (*generated.CatalogReleasePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogReleaseServe", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	release, err := singleRow[model.CatalogRelease](r.store.Releases.Serve(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ReleaseID)))
	userErrs, err := userErrors(err)
	return &generated.CatalogReleasePayload{Release: release, UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogReleaseUpdate(ctx context.Context, input generated.CatalogReleaseUpdateInput) (*generated.CatalogReleasePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogReleaseUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	update := publish.ReleaseUpdate{Nulls: opctx.Nulls(ctx), Label: input.Label, Note: input.Note, Retained: input.Retained}
	release, err := singleRow[model.CatalogRelease](r.store.Publisher.UpdateRelease(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ReleaseID), update))
	userErrs, err := userErrors(err)
	return &generated.CatalogReleasePayload{Release: release, UserErrors: userErrs}, err
}
