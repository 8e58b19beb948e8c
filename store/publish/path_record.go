package publish

import (
	"context"

	"portico/store"
	"portico/store/db"
	"portico/store/publish/compare"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// maxServeCompared is the number of products of a release above which a roll-back to a release of another base records the
// former paths of nodes only: all products would have to be compared.
const maxServeCompared = 10_000

// RecordPathsBefore records the paths that a catalog no longer has when it serves a kept release by its number, as a
// publication does. It logs what fails, because a roll-back must not wait for it.
func (s *Service) RecordPathsBefore(ctx context.Context, actor store.Actor, number int64) {
	err := func() error {
		made, err := segment.KeptRelease(ctx, s.db.Reader, number)
		if err != nil {
			return ignoreNotFound(err)
		}
		hold, err := routing.HoldOf(ctx, s.db.Reader, made.CatalogID)
		if err != nil || hold.ReleaseID == 0 || hold.ReleaseID == number {
			return err
		}
		served, err := segment.KeptRelease(ctx, s.db.Reader, hold.ReleaseID)
		if err != nil {
			return err
		}
		sides := [2]*compare.StoredSide{compare.NewStoredSide(s.db, s.releases.ViewOf(served).Ahead()), compare.NewStoredSide(s.db, s.releases.ViewOf(made).Ahead())}
		w := &releaseWriter{service: s, actor: actor, release: made, served: sides[0].View, compared: &compare.Comparison{Before: sides[0], Now: sides[1]}}
		alike := served.Format == segment.ReleaseFormat && made.Format == segment.ReleaseFormat
		if alike && (sharedLayers(served, made) > 0 || max(served.Products, made.Products) <= maxServeCompared) {
			if err := compareStored(ctx, w.compared, sides); err != nil {
				return err
			}
		}
		if err := w.steps(ctx, w.changedNodes, w.changedProducts); err != nil || len(w.paths.rows) == 0 {
			return err
		}
		turn, err := db.UpdateOnce(ctx, s.db, nil, actor, routing.NextNumber) // later than all that was served
		if err != nil {
			return err
		}
		for _, row := range w.paths.rows {
			row[2] = turn
		}
		return store.Chunked(w.paths.rows, sortedBatch, func(rows [][]any) error {
			return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
				return t.InsertRows(ctx, "path_change", columns["path_change"], rows)
			})
		})
	}()
	if err != nil {
		s.db.Log.WarnContext(ctx, "the paths of the served release are not recorded, so those that the next one does not have lead nowhere", "release", number, "error", err)
	}
}
