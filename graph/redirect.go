package graph

import (
	"context"

	"portico/graph/model"
)

func (r queryResolver) Redirect(ctx context.Context, path string) (*model.Redirect, error) {
	v, err := r.catalog(ctx, "Query.redirect")
	if err != nil {
		return nil, err
	}
	return model.NewRedirect(v.Redirect(ctx, path))
}
