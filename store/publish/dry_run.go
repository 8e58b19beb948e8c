package publish

import (
	"context"

	"portico/store"
	"portico/store/db"
	"portico/store/publish/compare"
)

// DryRun returns what a publication of a catalog would change now, and writes nothing. It reads as much as the
// publication: for many changes all products, else only those that changed. most bounds the list, not the counts.
// NOT_FOUND for an unknown catalog.
func (s *Service) DryRun(ctx context.Context, catalogID string, most int, progress Progress) (differences *compare.Differences, err error) {
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

// dryDifferences compares the release that the plan would make with the served one. It builds all its products, for their
// versions.
func (w *releaseWriter) dryDifferences(ctx context.Context, most int, progress Progress) (_ *compare.Differences, err error) {
	if err := w.readServed(ctx); err != nil {
		return nil, err
	}
	if err := w.files(ctx); err != nil {
		return nil, err
	}
	if w.compared.FileIDs, err = w.fileCandidates(ctx); err != nil {
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
	return w.compared.Differences(ctx, most)
}
