package publish

import (
	"context"
	"errors"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// maxSlugChanges is how many slugs of the past redirect in a catalog. Those that changed first go.
const maxSlugChanges = 100_000

// slugChanges stores the slugs of the served release whose products and nodes have another one in the new
// release. What is stored for a release that is never served does no harm: an address that leads somewhere is not
// redirected.
func (w *releaseWriter) slugChanges(ctx context.Context) error {
	stored, err := w.nodeSlugChanges(ctx)
	if err != nil {
		return err
	}
	if err := store.Chunked(w.changed, 512, func(ids []string) error {
		n, err := w.productSlugChanges(ctx, ids)
		stored += n
		return err
	}); err != nil || stored == 0 {
		return err
	}
	return w.service.dropSlugChanges(ctx, w.actor, w.release.CatalogID)
}

func (w *releaseWriter) nodeSlugChanges(ctx context.Context) (int, error) {
	before, err := w.served.Tree(ctx)
	if err != nil {
		return 0, err
	}
	var rows [][]any
	for _, was := range before.Nodes {
		if now := w.plan.tree.ByID[was.ID]; now != nil && now.Slug != was.Slug {
			rows = w.slugChange(rows, catalog.RedirectNode, was.Slug, was.ID)
		}
	}
	return len(rows), w.put(ctx, "slug_change", rows...)
}

func (w *releaseWriter) productSlugChanges(ctx context.Context, ids []string) (int, error) {
	before, err := foundIn(ctx, w.servedView(), ids)
	if errors.Is(err, segment.ErrGone) {
		return 0, nil // the served release was swept meanwhile, or lacks a product
	}
	if err != nil {
		return 0, err
	}
	now, err := w.foundNow(ctx, ids)
	if err != nil {
		return 0, err
	}
	var rows [][]any
	for _, id := range ids {
		was, wasThere := before[id]
		is, isThere := now[id]
		if wasThere && isThere && was.slug != is.slug {
			rows = w.slugChange(rows, catalog.RedirectProduct, was.slug, id)
		}
	}
	return len(rows), w.put(ctx, "slug_change", rows...)
}

func (w *releaseWriter) slugChange(rows [][]any, kind, slug, id string) [][]any {
	if slug == "" {
		return rows
	}
	return append(rows, []any{w.release.CatalogID, slug, kind, w.release.ID, id})
}

// dropSlugChanges deletes the oldest changes of a catalog beyond maxSlugChanges.
func (s *PublishService) dropSlugChanges(ctx context.Context, actor store.Actor, catalogID string) error {
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
func (s *PublishService) dropSlugChangesOfCatalogs(ctx context.Context, actor store.Actor) error {
	return s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
		return t.Exec(ctx, `
			DELETE FROM slug_change WHERE (catalog_id, slug, kind, release_id, target_id) IN (
			    SELECT catalog_id, slug, kind, release_id, target_id FROM slug_change WHERE catalog_id NOT IN (SELECT id FROM catalog) LIMIT $1)`, rows)
	})
}
