package publish

import (
	"cmp"
	"context"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// upToDate returns the served release if no authored data was written since, else
// nil; also nil for a release of another format. It returns a *routing.HeldError if
// the catalog's hold forbids the publication. A publication that ends anyHold then ends the hold of now.
func (s *Service) upToDate(ctx context.Context, catalogID string, how *publication) (*segment.Release, error) {
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	plan := &publicationPlan{in: s.db.Reader}
	err = plan.readCatalog(ctx, catalogID)
	if how.ends == anyHold {
		how.ends = plan.hold.Below
	}
	if err != nil || plan.served == 0 {
		return nil, err
	}
	if err := how.may(plan.hold); err != nil {
		return nil, err
	}
	shown := plan.shown
	if shown.Format != segment.ReleaseFormat || shown.Revision != plan.revision || shown.Locale != cmp.Or(plan.source.Attributes.Locale, settings.Locale) {
		return nil, nil
	}
	served, err := segment.KeptRelease(ctx, s.db.Reader, plan.served)
	return served, ignoreNotFound(err)
}

// giveUp deletes a release that shows the same as the served one, and marks that, whose number is served,
// as up to date. It returns false when another publication of the catalog is
// running or finished meanwhile: then the later release must win.
func (s *Service) giveUp(ctx context.Context, actor store.Actor, release *segment.Release, served int64) (dropped bool, err error) {
	if err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		dropped = false
		// Locks the catalog's row, as finishRelease does.
		n, err := t.Exec(ctx, `
			UPDATE catalog SET release_id = release_id
			WHERE id = $1 AND release_id = $2
			  AND NOT EXISTS (SELECT 1 FROM release WHERE catalog_id = $1 AND state = $3 AND id <> $4)`,
			release.CatalogID, served, catalog.ReleaseBuilding, release.ID)
		if err != nil || n == 0 {
			return err
		}
		if _, err := t.Exec(ctx, `UPDATE release SET revision = $2 WHERE id = $1 AND revision < $2`, served, release.Revision); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, `UPDATE release SET state = 'dropped', touched_at = 0 WHERE id = $1 AND state = $2`, release.ID, catalog.ReleaseBuilding); err != nil {
			return err
		}
		dropped = true
		return nil
	}); err != nil || !dropped {
		return false, err
	}
	return true, s.dropRelease(ctx, actor, deadRelease{id: release.ID})
}
