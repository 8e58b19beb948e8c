package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
)

func (r queryResolver) Synonym(ctx context.Context, id string) (*catalog.Synonym, error) {
	if err := auth.Require(ctx, "Query.synonym"); err != nil {
		return nil, err
	}
	return orNull(r.store.Synonym(ctx, store.LocalID(id)))
}

func (r queryResolver) Synonyms(ctx context.Context, first *int, after *string, last *int, before *string, offset *int) (*model.SynonymConnection, error) {
	if err := auth.Require(ctx, "Query.synonyms"); err != nil {
		return nil, err
	}
	slice, err := r.store.Synonyms(ctx, pageOf(first, after, last, before, offset))
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, slice.Items), nil
}
