package graph

import (
	"context"

	"portico/graph/model"
	"portico/store"
	"portico/store/catalog"
)

func (r queryResolver) AuthoredHierarchy(ctx context.Context, id string) (*catalog.AuthoredHierarchy, error) {
	return authoredByID(ctx, "authoredHierarchy", id, r.store.Catalogs.AuthoredHierarchiesByID)
}

func (r queryResolver) AuthoredHierarchies(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.AuthoredHierarchyConnection, error) {
	return authoredPage(ctx, "Query.authoredHierarchies", func() (*store.Slice[*catalog.AuthoredHierarchy], error) {
		return r.store.Catalogs.AuthoredHierarchies(ctx, pageOf(first, after, last, before, offset))
	})
}
