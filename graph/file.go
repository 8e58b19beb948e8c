package graph

import (
	"context"

	"portico/graph/model"
	"portico/internal/auth"
	"portico/store"
	"portico/store/catalog"
	"portico/store/release"
)

// everyFile is the coordinate whose scope allows to read files that the catalog does not use.
const everyFile = "file that is not shown"

func (r queryResolver) File(ctx context.Context, id string) (*catalog.File, error) {
	if err := auth.Require(ctx, "Query.file"); err != nil {
		return nil, err
	}
	files, err := r.filesFor(ctx, []string{store.LocalID(id)})
	return files[store.LocalID(id)], err
}

func (r queryResolver) Files(ctx context.Context, ids []string, first *int, after *string, last *int, before *string, offset *int) (*model.FileConnection, error) {
	v, err := r.catalog(ctx, "Query.files")
	if err != nil {
		return nil, err
	}
	query := release.FileQuery{IDs: store.LocalIDs(ids), All: auth.Require(ctx, everyFile) == nil, Page: pageOf(first, after, last, before, offset)}
	slice, err := v.Files(ctx, query)
	if err != nil {
		return nil, err
	}
	return model.NewConnection(slice, slice.Items), nil
}

// filesFor returns files by id, without those that the client may not read.
func (r *Resolver) filesFor(ctx context.Context, ids []string) (map[string]*catalog.File, error) {
	v, err := r.View(ctx)
	if err != nil {
		return nil, err
	}
	if auth.Require(ctx, everyFile) == nil {
		return v.FilesByID(ctx, ids)
	}
	return v.FilesShown(ctx, ids)
}
