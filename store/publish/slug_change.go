package publish

import (
	"context"

	"portico/store"
	"portico/store/db"
)

// maxSlugChanges is how many slugs of the past redirect in a catalog. Those that changed first go.
const maxSlugChanges = 100_000

// slugChange stores the slug that the served release has of a product or node if the new release has another one. What
// is stored for a release that is never served does no harm: an address that leads somewhere is not redirected.
func (w *releaseWriter) slugChange(ctx context.Context, kind, id, was, is string) error {
	if was == is || was == "" {
		return nil
	}
	w.slugs++
	return w.put(ctx, "slug_change", []any{w.release.CatalogID, was, kind, w.release.ID, id})
}

// dropSlugChanges deletes the oldest changes of a catalog beyond maxSlugChanges, with all others of the same release.
func (s *Service) dropSlugChanges(ctx context.Context, actor store.Actor, catalogID string) error {
	oldest, found, err := db.One(ctx, s.db.Reader, db.Scalar[int64],
		`SELECT release_id FROM slug_change WHERE catalog_id = $1 ORDER BY release_id DESC LIMIT 1 OFFSET $2`, catalogID, maxSlugChanges)
	if err != nil || !found {
		return err
	}
	return s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
		return t.Exec(ctx, `
			DELETE FROM slug_change WHERE catalog_id = $1 AND (release_id, slug, kind, target_id) IN (
			    SELECT release_id, slug, kind, target_id FROM slug_change WHERE catalog_id = $1 AND release_id <= $2 LIMIT $3)`, catalogID, oldest, rows)
	})
}

// dropSlugChangesOfCatalogs deletes the changes of catalogs that were deleted.
func (s *Service) dropSlugChangesOfCatalogs(ctx context.Context, actor store.Actor) error {
	return s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
		return t.Exec(ctx, `
			DELETE FROM slug_change WHERE (catalog_id, slug, kind, release_id, target_id) IN (
			    SELECT catalog_id, slug, kind, release_id, target_id FROM slug_change WHERE catalog_id NOT IN (SELECT id FROM catalog) LIMIT $1)`, rows)
	})
}
