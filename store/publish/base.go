package publish

import (
	"context"
	"errors"
	"fmt"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// errNotNow is returned when authored data changed since the served release was published.
var errNotNow = errors.New("not now")

// makeBases makes a base for catalogs whose served release has many products in the layers above its base. It shows the
// same as the served release, is never served, and later deltas are put upon it. So a publication is fast also when a
// whole release would be due, and what the deltas before it hold can be swept. A catalog of which something was
// authored since is left for the time after its next publication.
func (s *Service) makeBases(ctx context.Context, actor store.Actor) error {
	if s.whole {
		return nil
	}
	served, err := segment.ServedReleases(ctx, s.db.Reader)
	if err != nil {
		return err
	}
	for _, r := range served {
		above := 0
		for _, layer := range r.Layers()[1:] {
			above += layer.End - layer.First
		}
		if above <= max(deltaLeast, r.Products/baseShare) || r.Format != segment.ReleaseFormat {
			continue
		}
		_, base, err := segment.WithUnservedBase(ctx, s.db.Reader, r.ID)
		if err == nil && base.Replaces(r) {
			continue
		}
		if err == nil {
			_, err = s.build(ctx, actor, r.CatalogID, &publication{base: true}, nil)
		}
		if err != nil && !errors.Is(err, errNotNow) && !store.HasCode(err, store.NotFound) && !errors.Is(err, errSwept) {
			return fmt.Errorf("make a base of the catalog %s: %w", r.CatalogID, err)
		}
	}
	return nil
}

// mayMakeBase sets the release that the base will equal. errNotNow if something was authored since that was published.
func (p *publicationPlan) mayMakeBase(ctx context.Context, made *segment.Release) error {
	served, err := segment.KeptRelease(ctx, p.in, p.served)
	if err != nil {
		return err
	}
	if served.Revision != p.revision || served.Locale != made.Locale {
		return errNotNow
	}
	made.Equal = served.ID
	return nil
}

// finishBase keeps a base for later deltas. It fails if the base does not show the same as the served release.
func (s *Service) finishBase(ctx context.Context, actor store.Actor, w *releaseWriter) (*segment.Release, error) {
	made := w.release
	if !w.changes.Empty() {
		return nil, fmt.Errorf("the base %d differs from release %d, which was published from the same data", made.ID, made.Equal)
	}
	if err := s.analyzeReleases(ctx); err != nil {
		return nil, err
	}
	return made, s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		made.PublishedAt = t.Now
		return endBuild(ctx, t, made, catalog.ReleaseBase, true, t.Now)
	})
}
