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

func (r queryResolver) Catalog(ctx context.Context, id string) (*catalog.Catalog, error) {
	return authoredByID(ctx, "catalog", id, r.store.Catalogs.ByID)
}

// catalogOf returns the catalog that a row names, loaded for all rows of its batch; nil for a deleted one. It needs the scope
// of a coordinate, the edge.
func catalogOf[T interface{ OfCatalog() string }](ctx context.Context, r *Resolver, coordinate string, row model.BatchRow[T]) (*catalog.Catalog, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	return model.Load(ctx, row, "catalog", r, func(r *Resolver, ctx context.Context, all []T) ([]*catalog.Catalog, error) {
		ids := mapRows(all, T.OfCatalog)
		catalogs, err := r.store.Catalogs.ByID(ctx, unique(ids))
		return model.ValuesByKey(ids, catalogs), err
	})
}

func (r queryResolver) Catalogs(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogConnection, error) {
	return authoredPage(ctx, "Query.catalogs", func() (*store.Slice[*catalog.Catalog], error) {
		return r.store.Catalogs.List(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r mutationResolver) CatalogCreate(ctx context.Context, input generated.CatalogCreateInput) (*generated.CatalogPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	created, err := r.store.Catalogs.Create(ctx, auth.PrincipalFrom(ctx).Actor(), deref(input.ID), catalog.CatalogChange{Name: &input.Name,
		HierarchyIDs: store.LocalIDs(input.HierarchyIds), Pricebooks: valuesOf(input.Pricebooks), Locale: input.Locale, Currency: input.Currency})
	userErrs, err := userErrors(err)
	return &generated.CatalogPayload{Catalog: created, UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogUpdate(ctx context.Context, input generated.CatalogUpdateInput) (*generated.CatalogPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	updated, err := r.store.Catalogs.Update(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), catalog.CatalogChange{Nulls: opctx.Nulls(ctx), Name: input.Name,
		HierarchyIDs: store.LocalIDs(input.HierarchyIds), Pricebooks: valuesOf(input.Pricebooks), Locale: input.Locale, Currency: input.Currency})
	userErrs, err := userErrors(err)
	return &generated.CatalogPayload{Catalog: updated, UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogDelete(ctx context.Context, input generated.ObjectDeleteInput) (*generated.ObjectDeletePayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	id := store.LocalID(input.ID)
	gone, userErrs, err := deletion(store.TypeCatalog, id, r.store.Catalogs.Delete(ctx, auth.PrincipalFrom(ctx).Actor(), id))
	return &generated.ObjectDeletePayload{DeletedID: gone, UserErrors: userErrs}, err
}
