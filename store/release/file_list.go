package release

import (
	"context"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/catalog"
	"portico/store/release/segment"
)

// FileQuery requests a page of files of a release, by id.
type FileQuery struct {
	IDs  []string // at most MaxFilterValues; nil is all
	All  bool     // including files that no product or node shows
	Page store.Page
}

// Files lists files of the release that its products and nodes show. All is for those who
// may write the catalog. INVALID for too many ids.
func (v *View) Files(ctx context.Context, query FileQuery) (*store.Slice[*catalog.File], error) {
	if len(query.IDs) > store.MaxFilterValues {
		return nil, store.Invalidf([]string{"filter"}, "must have at most %d values in in(id,…), got %d", store.MaxFilterValues, len(query.IDs))
	}
	v, err := v.follow(ctx, query.Page, "")
	if err != nil {
		return nil, err
	}
	ids, err := v.fileIDs(ctx, query)
	if err != nil {
		return nil, err
	}
	selected := cachekey.New("all")
	if query.IDs != nil {
		selected = cachekey.Join(cachekey.New(ids...))
	}
	return positioned(ctx, v, store.Cursor{List: store.NewListID(cachekey.New("files"), selected)}, query.Page, len(ids), func(start, end int) ([]*catalog.File, error) {
		byID, err := v.FilesByID(ctx, ids[start:end])
		files := make([]*catalog.File, 0, end-start)
		for _, id := range ids[start:end] {
			if byID[id] == nil && err == nil {
				err = segment.ErrGone
			}
			files = append(files, byID[id])
		}
		return files, err
	})
}

// fileIDs returns the ids of a query's files, in order. It leaves out unknown ids, and unless All is set files that nothing
// shows.
func (v *View) fileIDs(ctx context.Context, query FileQuery) ([]string, error) {
	if query.IDs == nil {
		return v.FileIDs(ctx, query.All)
	}
	find := v.FilesShown
	if query.All {
		find = v.FilesByID
	}
	files, err := find(ctx, query.IDs)
	ids := make([]string, 0, len(files))
	for id := range files {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, err
}
