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

func (r queryResolver) AuthoredHierarchy(ctx context.Context, id string) (*catalog.AuthoredHierarchy, error) {
	return authoredByID(ctx, "authoredHierarchy", id, r.store.AuthoredHierarchiesByID)
}

func (r queryResolver) AuthoredHierarchies(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredHierarchyConnection, error) {
	return authoredPage(ctx, "Query.authoredHierarchies", func() (*store.Slice[*catalog.AuthoredHierarchy], error) {
		return r.store.AuthoredHierarchies(ctx, pageOf(first, after, last, before, offset))
	})
}

func (r mutationResolver) HierarchyCreate(ctx context.Context, input generated.HierarchyCreateInput) (*generated.HierarchyCreatePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.hierarchyCreate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	hierarchy, err := r.store.CreateHierarchy(ctx, auth.PrincipalFrom(ctx).Actor(), deref(input.ID),
		catalog.NodeChange{Name: &input.Name, Slug: input.Slug, Description: input.Description, SEO: input.Seo, Translations: input.Translations})
	userErrs, err := userErrors(err)
	return &generated.HierarchyCreatePayload{Hierarchy: hierarchy, UserErrors: userErrs}, err
}

func (r mutationResolver) HierarchyUpdate(ctx context.Context, input generated.HierarchyUpdateInput) (*generated.HierarchyUpdatePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.hierarchyUpdate", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	hierarchy, err := r.store.UpdateHierarchy(ctx, auth.PrincipalFrom(ctx).Actor(), store.LocalID(input.ID),
		catalog.NodeChange{Nulls: opctx.Nulls(ctx), Name: input.Name, Slug: input.Slug, Description: input.Description, SEO: input.Seo, Translations: input.Translations})
	userErrs, err := userErrors(err)
	return &generated.HierarchyUpdatePayload{Hierarchy: hierarchy, UserErrors: userErrs}, err
}

func (r mutationResolver) HierarchyDelete(ctx context.Context, input generated.HierarchyDeleteInput) (*generated.HierarchyDeletePayload, error) {
	ctx, err := opctx.BeginWrite(ctx, "Mutation.hierarchyDelete", input.IdempotencyKey, input)
	if err != nil {
		return nil, err
	}
	id := store.LocalID(input.ID)
	gone, userErrs, err := deletion(store.TypeAuthoredHierarchy, id, r.store.DeleteHierarchy(ctx, auth.PrincipalFrom(ctx).Actor(), id))
	return &generated.HierarchyDeletePayload{DeletedID: gone, UserErrors: userErrs}, err
}
