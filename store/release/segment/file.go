package segment

import (
	"context"
	"database/sql"
	"maps"
	"slices"

	"portico/internal/cachekey"
	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// The cache's names for the ids of a release's files: of all layers, and of those
// above the base.
const (
	listFiles        = "files"
	listChangedFiles = "changed files"
)

// FilesByID returns several files of the release. It leaves out unknown ids. Files that no layer above the base has are
// cached by the base, so that they stay cached after a publication; others by the release.
func (r *Reader) FilesByID(ctx context.Context, ids []string) (map[string]*catalog.File, error) {
	r.Reads.AddNames(fileKind, store.ValidIDs(ids))
	layers := r.Release.Layers()
	base := r.layer(layers[0])
	if len(layers) == 1 {
		return base.filesIn(ctx, ids)
	}
	changed, err := r.changedFileIDs(ctx)
	if err != nil {
		return nil, err
	}
	var above, below []string
	for _, id := range ids {
		if _, found := slices.BinarySearch(changed, id); found {
			above = append(above, id)
		} else {
			below = append(below, id)
		}
	}
	files, err := base.filesIn(ctx, below)
	if err != nil || len(above) == 0 {
		return files, err
	}
	others, err := r.filesIn(ctx, above)
	maps.Copy(files, others)
	return files, err
}

// FilesOf returns the file of each id; nil if there is none. An empty id is of no file. stored
// returns the files that were stored with the product that refers to the id at an index (StoredProduct.Files), which
// are not read again.
func (r *Reader) FilesOf(ctx context.Context, ids []string, stored func(i int) []*catalog.File) ([]*catalog.File, error) {
	r.Reads.AddNames(fileKind, store.ValidIDs(ids))
	var changed storedTexts
	if len(r.Release.Below) > 0 {
		var err error
		if changed, err = r.changedFileIDs(ctx); err != nil {
			return nil, err
		}
	}
	files, others := make([]*catalog.File, len(ids)), []string(nil)
	for i, id := range ids {
		if id == "" {
			continue
		}
		if _, found := slices.BinarySearch(changed, id); !found {
			if at := slices.IndexFunc(stored(i), func(f *catalog.File) bool { return f.ID == id }); at >= 0 {
				files[i] = stored(i)[at]
				continue
			}
		}
		others = append(others, id)
	}
	if len(others) == 0 {
		return files, nil
	}
	read, err := r.FilesByID(ctx, store.Unique(others))
	for i, id := range ids {
		if files[i] == nil {
			files[i] = read[id]
		}
	}
	return files, err
}

// changedFileIDs returns the ids of the files in the layers above the base, in order.
func (r *Reader) changedFileIDs(ctx context.Context) (storedTexts, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedTexts, Name: cachekey.New(listChangedFiles)}
	if cached, ok := db.Cached[storedTexts](r.Cache, key); ok {
		return cached, nil
	}
	of, args := db.InList(nil, r.Release.LayerIDs()[1:])
	ids, err := db.Collect(ctx, r.session(), db.Scalar[string], `SELECT DISTINCT file_id FROM release_file WHERE release_id IN (`+of+`) ORDER BY file_id`, args...)
	if err == nil {
		r.Cache.Set(key, storedTexts(ids))
	}
	return ids, err
}

// filesIn returns several files of the layers of the release, each from the highest that has it.
func (r *Reader) filesIn(ctx context.Context, ids []string) (map[string]*catalog.File, error) {
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedFile}
	return db.Fetch(r.Cache, key, store.ValidIDs(ids), func(ids []string) (map[string]*catalog.File, error) {
		files := make(map[string]*catalog.File, len(ids))
		of, args := r.InLayers()
		list, args := db.InList(args, ids)
		read, err := db.Collect(ctx, r.session().Keyed(), func(rows *sql.Rows) (*catalog.File, error) {
			var document string
			if err := rows.Scan(&document); err != nil {
				return nil, err
			}
			return catalog.ReadFile(document)
		}, `
			SELECT body FROM release_file WHERE release_id IN (`+of+`) AND file_id IN (`+list+`) ORDER BY release_id`, args...)
		for _, f := range read { // the base first, whose number is the lowest
			files[f.ID] = f
		}
		return files, err
	})
}

// FilesShown is FilesByID for the files that products and nodes of the release show.
func (r *Reader) FilesShown(ctx context.Context, ids []string) (map[string]*catalog.File, error) {
	files, err := r.FilesByID(ctx, ids)
	if err != nil {
		return files, err
	}
	shown, err := r.shownFiles(ctx, ids)
	for id := range files {
		if !shown[id] {
			delete(files, id)
		}
	}
	return files, err
}

// shownFiles reports which files products or nodes of the release show.
func (r *Reader) shownFiles(ctx context.Context, ids []string) (map[string]bool, error) {
	r.Reads.Add(AnyNode)
	tree, err := r.ReadTree(ctx)
	if err != nil {
		return nil, err
	}
	shown, err := r.has(ctx, ShownFile, store.ValidIDs(ids))
	for _, id := range ids {
		if err == nil && tree.images[id] {
			shown[id] = true
		}
	}
	return shown, err
}

// FileIDs returns the ids of all files, or of those that products and nodes show, in
// order.
func (r *Reader) FileIDs(ctx context.Context, all bool) ([]string, error) {
	r.Reads.Add(AnyFile)
	key := db.CacheKey{Release: r.Release.CacheIdentity(), Kind: cachedTexts, Name: cachekey.New(listFiles)}
	if all {
		key.Number = 1
	} else {
		r.Reads.Add(AnyProduct)
		r.Reads.Add(AnyNode)
	}
	if kept, ok := db.Cached[storedTexts](r.Cache, key); ok {
		return kept, nil
	}
	of, args := r.InLayers()
	ids, err := db.Collect(ctx, r.session(), db.Scalar[string], `
		SELECT DISTINCT file_id FROM release_file WHERE release_id IN (`+of+`) ORDER BY file_id`, args...)
	if err != nil {
		return nil, err
	}
	if !all {
		shown, err := r.shownFiles(ctx, ids)
		if err != nil {
			return nil, err
		}
		ids = slices.DeleteFunc(ids, func(id string) bool { return !shown[id] })
	}
	r.Cache.Set(key, storedTexts(ids))
	return ids, nil
}
