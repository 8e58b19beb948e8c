package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
)

func (r queryResolver) CatalogPendingChanges(ctx context.Context, catalogID string, first *int, after *string, last *int, before *string, offset *int) (*model.CatalogPendingChangeConnection, error) {
	if err := auth.Require(ctx, "Query.catalogPendingChanges"); err != nil {
		return nil, err
	}
	pending, err := r.store.Publisher.PendingChanges(ctx, store.LocalID(catalogID), pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewPendingChanges(pending), nil
}
