package release

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// FileQuery asks for files of a release, by id: those named, or all.
type FileQuery struct {
	IDs  []string // at most MaxFilterValues; nil is all
	All  bool     // those that no product of the release shows, too
	Page store.Page
}

// listFiles names what is kept of a release's files.
const listFiles = "files"

// Files lists files of the release. Shoppers see those that its products show;
// All is for who may write the catalog. INVALID for too many ids.
func (v *View) Files(ctx context.Context, query FileQuery) (*store.Slice[*catalog.File], error) {
	if len(query.IDs) > store.MaxFilterValues {
		return nil, store.Invalidf([]string{"filter"}, "gives in(id,…) %d values; it takes 1 to %d", len(query.IDs), store.MaxFilterValues)
	}
	v, err := v.follow(ctx, query.Page)
	if err != nil {
		return nil, err
	}
	ids, err := v.fileIDs(ctx, query)
	if err != nil {
		return nil, err
	}
	name := listFiles
	if query.IDs != nil {
		name += "?" + strings.Join(ids, ",")
	}
	return positioned(v, store.Cursor{List: store.ListName(name)}, query.Page, len(ids), func(start, end int) ([]*catalog.File, error) {
		byID, err := v.FilesByID(ctx, ids[start:end])
		files := make([]*catalog.File, 0, end-start)
		for _, id := range ids[start:end] {
			if byID[id] == nil && err == nil {
				err = errReleaseGone
			}
			files = append(files, byID[id])
		}
		return files, err
	})
}

// FilesShown is FilesByID for who sees the files that products of the release
// show, and no others.
func (v *View) FilesShown(ctx context.Context, ids []string) (map[string]*catalog.File, error) {
	files, err := v.FilesByID(ctx, ids)
	if err != nil || v.Release.Format < formatOfPresence {
		return files, err
	}
	shown, err := v.has(ctx, ShownFile, store.ValidIDs(ids))
	for id := range files {
		if !shown[id] {
			delete(files, id)
		}
	}
	return files, err
}

// fileIDs are the ids that a query asks for and that there are, in order.
func (v *View) fileIDs(ctx context.Context, query FileQuery) (storedTexts, error) {
	if query.IDs == nil {
		return v.allFileIDs(ctx, query.All)
	}
	find := v.FilesShown
	if query.All {
		find = v.FilesByID
	}
	files, err := find(ctx, query.IDs)
	ids := make(storedTexts, 0, len(files))
	for id := range files {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, err
}

// allFileIDs are those of all files, or of all that are shown, in order.
func (v *View) allFileIDs(ctx context.Context, all bool) (storedTexts, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedTexts, Name: listFiles}
	if all {
		key.Number = 1
	}
	if kept, ok := db.Cached[storedTexts](v.Cache, key); ok {
		return kept, nil
	}
	ids, err := db.Collect(ctx, v.service.db.Reader, db.Scalar[string], `
		SELECT DISTINCT file_id FROM release_file WHERE release_id IN ($1, $2) ORDER BY file_id`, v.Layers()...)
	if err != nil {
		return nil, err
	}
	if !all && v.Release.Format >= formatOfPresence {
		shown, err := v.has(ctx, ShownFile, ids)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return !shown[id] })
	}
	v.Cache.Set(key, storedTexts(ids))
	return ids, nil
}

// storedTexts are kept as a list.
type storedTexts []string

func (t storedTexts) Size() int {
	n := 24
	for _, text := range t {
		n += 16 + len(text)
	}
	return n
}

// FilesByID returns several files of the release; an unknown one is left out.
func (v *View) FilesByID(ctx context.Context, ids []string) (map[string]*catalog.File, error) {
	key := db.CacheKey{Release: v.Release.identity(), Kind: cachedFile}
	return db.Fetch(v.Cache, key, store.ValidIDs(ids), func(ids []string) (map[string]*catalog.File, error) {
		files := make(map[string]*catalog.File, len(ids))
		list, args := db.InList(v.Layers(), ids)
		read, err := db.Collect(ctx, v.service.db.Reader, func(rows *sql.Rows) (*catalog.File, error) {
			var document []byte
			if err := rows.Scan(&document); err != nil {
				return nil, err
			}
			return catalog.ReadFile(document)
		}, `
			SELECT d.body FROM release_file f JOIN document d ON d.id = f.document_id
			WHERE f.release_id IN ($1, $2) AND f.file_id IN (`+list+`)
			ORDER BY f.release_id -- a delta's own after its base's
			`, args...)
		for _, f := range read {
			files[f.ID] = f
		}
		return files, err
	})
}
