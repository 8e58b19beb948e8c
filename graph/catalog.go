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

func (r queryResolver) Catalog(ctx context.Context, id string) (*model.Catalog, error) {
	return authoredRow[model.Catalog](ctx, "catalog", id, r.store.Catalogs.ByID)
}

// catalogOf returns the catalog that a row names, loaded for all rows of its batch; nil for a deleted one. It needs the scope
// of a coordinate, the edge.
func catalogOf[T interface{ OfCatalog() string }](ctx context.Context, r *Resolver, coordinate string, row model.BatchRow[T]) (*model.Catalog, error) {
	if err := auth.Require(ctx, coordinate); err != nil {
		return nil, err
	}
	return model.Load(ctx, row, "catalog", r, func(r *Resolver, ctx context.Context, all []T) ([]*model.Catalog, error) {
		ids := mapRows(all, T.OfCatalog)
		distinct := unique(ids)
		found, err := r.store.Catalogs.ByID(ctx, distinct)
		rows := map[string]*model.Catalog{}
		for _, row := range model.NewBatch[model.Catalog](valuesByID(distinct, found)) {
			rows[row.ID] = row
		}
		return model.ValuesByKey(ids, rows), err
	})
}

// Hierarchies reads the hierarchies of all catalogs at once.
func (r catalogResolver) Hierarchies(ctx context.Context, obj *model.Catalog) ([]*catalog.AuthoredHierarchy, error) {
	return model.Load(ctx, obj.BatchRow, "hierarchies", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Catalog) ([][]*catalog.AuthoredHierarchy, error) {
		found, err := r.store.Catalogs.AuthoredHierarchiesByID(ctx, idsOf(all, func(c *model.Catalog) []string { return c.HierarchyIDs }))
		return mapRows(all, func(c *model.Catalog) []*catalog.AuthoredHierarchy { return valuesByID(c.HierarchyIDs, found) }), err
	})
}

// Pricebooks reads the price books of all catalogs at once.
func (r catalogResolver) Pricebooks(ctx context.Context, obj *model.Catalog) ([]*model.CatalogPricebook, error) {
	return model.Load(ctx, obj.BatchRow, "pricebooks", r.Resolver, func(r *Resolver, ctx context.Context, all []*model.Catalog) ([][]*model.CatalogPricebook, error) {
		found, err := r.store.Catalogs.Pricebooks.ByIDs(ctx, idsOf(all, func(c *model.Catalog) []string {
			return mapRows(c.Pricebooks, func(rank catalog.PricebookRank) string { return rank.ID })
		}))
		return mapRows(all, func(c *model.Catalog) []*model.CatalogPricebook {
			list := []*model.CatalogPricebook{}
			for _, rank := range c.Pricebooks {
				if book := found[rank.ID]; book != nil {
					list = append(list, &model.CatalogPricebook{Pricebook: book, Priority: rank.Priority})
				}
			}
			return list
		}), err
	})
}

func (r queryResolver) Catalogs(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogConnection, error) {
	if err := auth.Require(ctx, "Query.catalogs"); err != nil {
		return nil, err
	}
	return pageOfRows[model.Catalog](r.store.Catalogs.List(ctx, pageOf(first, after, last, before, offset)))
}

func (r mutationResolver) CatalogCreate(ctx context.Context, input generated.CatalogCreateInput) (*generated.CatalogPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	created, err := singleRow[model.Catalog](r.store.Catalogs.Create(ctx, auth.PrincipalFrom(ctx).Actor(), deref(input.ID), catalog.Change{Name: &input.Name,
		HierarchyIDs: store.LocalIDs(input.HierarchyIds), Pricebooks: valuesOf(input.Pricebooks), Locale: input.Locale, Currency: input.Currency}))
	userErrs, err := userErrors(err)
	return &generated.CatalogPayload{Catalog: created, UserErrors: userErrs}, err
}

func (r mutationResolver) CatalogUpdate(ctx context.Context, input generated.CatalogUpdateInput) (*generated.CatalogPayload, error) {
	ctx, err := opctx.AuthorizeWrite(ctx, "Mutation.catalogUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	updated, err := singleRow[model.Catalog](r.store.Catalogs.Update(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID), catalog.Change{Nulls: opctx.Nulls(ctx), Name: input.Name,
		HierarchyIDs: store.LocalIDs(input.HierarchyIds), Pricebooks: valuesOf(input.Pricebooks), Locale: input.Locale, Currency: input.Currency,
		ExpectedHierarchyIDs: store.LocalIDs(input.ExpectedHierarchyIds), ExpectedPricebooks: valuesOf(input.ExpectedPricebooks)}))
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
