package publish

import (
	"context"
	"database/sql"

	"portico/store"
	"portico/store/db"
)

// DryRun returns what a publication of a catalog would change now, and writes nothing. It reads as much as the
// publication: for many changes all products, else only those that changed. most bounds the list, not the counts.
// NOT_FOUND for an unknown catalog.
func (s *PublishService) DryRun(ctx context.Context, catalogID string, most int, progress PublishProgress) (differences *Differences, err error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	made, err := s.newRelease(ctx, catalogID)
	if err != nil {
		return nil, err
	}
	err = s.db.RenewableSnapshot(ctx, func(snapshot *db.Snapshot) error {
		plan, err := s.planRelease(ctx, snapshot, made, publication{})
		if err != nil {
			return err
		}
		plan.renew = func(context.Context) error { return nil } // what is described must be what was compared
		w := newReleaseWriter(s, "", plan, made)
		w.dryRun = true
		differences, err = w.dryDifferences(ctx, most, progress)
		return err
	})
	return differences, err
}

// dryDifferences compares the release that the plan would make with the served one.
func (w *releaseWriter) dryDifferences(ctx context.Context, most int, progress PublishProgress) (_ *Differences, err error) {
	if err := w.readServed(ctx); err != nil {
		return nil, err
	}
	if w.compared.fileIDs, err = w.readFiles(ctx); err != nil {
		return nil, err
	}
	if err := store.Chunked(w.plan.order, publishBatch, func(order []uint32) error {
		products, err := w.plan.build(ctx, w.release, order)
		for _, product := range products {
			w.versions = append(w.versions, product.version)
		}
		progress(len(w.versions), len(w.plan.order))
		return err
	}); err != nil {
		return nil, err
	}
	if err := w.compare(ctx); err != nil {
		return nil, err
	}
	return w.compared.differences(ctx, most)
}

// readFiles gives the plan the files that exist, as a publication does, and returns the ids of those that may differ
// from the served release: all, or for a delta those of fileCandidates.
func (w *releaseWriter) readFiles(ctx context.Context) (ids []string, err error) {
	if w.plan.delta != nil {
		return w.fileCandidates(ctx)
	}
	if w.served != nil {
		if ids, err = fileIDsIn(ctx, w.plan.in, w.served.Release.Layers()); err != nil {
			return nil, err
		}
	}
	scan := func(rows *sql.Rows) ([]any, string, error) {
		var id string
		err := rows.Scan(&id)
		return []any{id}, id, err
	}
	return ids, db.EachPage(ctx, w.plan.in, "file", "id", []string{"id"}, scan, func(some []string) error {
		for _, id := range some {
			w.plan.files.Add(id)
		}
		ids = append(ids, some...)
		return nil
	})
}
