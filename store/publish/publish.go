package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// Publish makes a new release of a catalog from what is authored at this
// moment and serves it from its end on; until then, and when it is
// interrupted, the old one is served. It reads one snapshot and writes in
// short transactions, so that it keeps nobody waiting. Where the new release
// would show the same as the served one, there is none, and the served one is
// the answer. NOT_FOUND for an unknown catalog.
//
// Publish ends the hold of a catalog that was rolled back. CONFLICT when it is
// rolled back while the release is built: the release is kept, and not served.
//
// A whole release takes some 0.4 kB of memory a live product, and as much
// again as the collector's headroom, beside 64 MiB each for words and for what
// else products are found by (Config.WordBytes); their texts stay on disk. A
// delta takes what its changes do.
func (s *PublishService) Publish(ctx context.Context, actor store.Actor, catalogID string, progress PublishProgress) (*segment.Release, error) {
	hold, err := routing.HoldOf(ctx, s.db.Reader, catalogID)
	if err != nil {
		return nil, err
	}
	return s.publish(ctx, actor, catalogID, publication{serve: true, ends: hold.Below}, progress)
}

// PublishUnlessHeld is Publish for whoever was not told to publish, such as an
// import: it leaves a catalog that was rolled back as it is, and returns a
// *release.HeldError.
func (s *PublishService) PublishUnlessHeld(ctx context.Context, actor store.Actor, catalogID string, progress PublishProgress) (*segment.Release, error) {
	return s.publish(ctx, actor, catalogID, publication{serve: true}, progress)
}

// Preview makes a release likewise and does not serve it: View shows it to
// those who ask for it by its number, and ServeRelease serves it.
func (s *PublishService) Preview(ctx context.Context, actor store.Actor, catalogID string, progress PublishProgress) (*segment.Release, error) {
	return s.publish(ctx, actor, catalogID, publication{}, progress)
}

// buildsAtMost is how often a publication begins whose release is swept
// meanwhile.
const buildsAtMost = 3

// publish begins again where its release was taken for dead, as that of a
// server that stood still is, or any when the database's clock was set.
func (s *PublishService) publish(ctx context.Context, actor store.Actor, catalogID string, how publication, progress PublishProgress) (made *segment.Release, err error) {
	for range buildsAtMost {
		if made, err = s.build(ctx, actor, catalogID, how, progress); !errors.Is(err, errSwept) {
			break
		}
	}
	return made, err
}

func (s *PublishService) build(ctx context.Context, actor store.Actor, catalogID string, how publication, progress PublishProgress) (*segment.Release, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	if how.serve {
		if served, err := s.upToDate(ctx, catalogID, how); err != nil || served != nil {
			if served != nil {
				progress(served.Products, served.Products)
				err = s.endHold(ctx, actor, catalogID, how)
			}
			return served, err
		}
	}
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	served, same := int64(0), false
	made := &segment.Release{CatalogID: catalogID, Locale: settings.Locale}
	err = s.db.Snapshot(ctx, func(in db.Session) error {
		plan := &publicationPlan{in: in}
		if err := plan.catalog(ctx, catalogID); err != nil {
			return err
		}
		made.Locale = cmp.Or(plan.source.Attributes.Locale, made.Locale)
		made.Revision = plan.revision
		plan.collation = index.NewCollation(made.Locale)
		if err := plan.findBase(ctx, s, made.Locale); err != nil {
			return err
		}
		if err := plan.arrange(ctx); err != nil {
			return err
		}
		if plan.delta != nil {
			made.BaseID, made.BaseAt = plan.delta.base.ID, store.Micros(plan.delta.base.PublishedAt)
		}
		made.Products, made.FirstOrdinal, made.Ordinals = plan.kept, plan.first, plan.first+len(plan.order)
		if made.ID, err = s.startRelease(ctx, actor, made, how); err != nil {
			return err
		}
		served = plan.served
		same, err = s.writeRelease(ctx, actor, plan, made, progress)
		return err
	})
	if err != nil {
		return nil, err
	}
	if same && how.serve {
		if dropped, err := s.giveUp(ctx, actor, made, served); err != nil {
			return nil, err
		} else if dropped {
			if err := s.endHold(ctx, actor, catalogID, how); err != nil {
				return nil, err
			}
			return segment.KeptRelease(ctx, s.db.Reader, served)
		}
	}
	if made.BaseID == 0 { // a delta is too small to mislead the planner
		if err := s.analyzeReleases(ctx); err != nil {
			return nil, err
		}
	}
	err = s.finishRelease(ctx, actor, made, how.serve)
	s.left() // for what is one too many now
	return made, err
}

// analyzeReleases has the planner know a new release before anyone reads it:
// from old statistics it would guess that a release is a few rows, and read
// all of it for a page.
func (s *PublishService) analyzeReleases(ctx context.Context) error {
	tables := []string{"document", "document_hash"}
	for _, table := range segment.Tables {
		tables = append(tables, table.Name)
	}
	return s.db.Analyze(ctx, tables)
}

// startRelease takes a number and marks it as being built. Taking it is what
// keeps Sweep from removing documents that this release will share. The
// catalog's row comes before the number: a roll-back that comes later has a
// higher one.
func (s *PublishService) startRelease(ctx context.Context, actor store.Actor, made *segment.Release, how publication) (id int64, err error) {
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		hold, err := routing.LockHold(ctx, t, made.CatalogID)
		if err == nil {
			err = how.may(hold)
		}
		if err != nil {
			return err
		}
		if made.BaseID != 0 { // and that it keeps the base
			n, err := t.Exec(ctx, `UPDATE release SET touched_at = `+s.db.ClockSQL()+` WHERE id = $1 AND state = $2`, made.BaseID, catalog.ReleasePublished)
			if err != nil || n == 0 {
				return cmp.Or[error](err, errSwept)
			}
		}
		id, _, err = db.One(ctx, t.Session, db.Scalar[int64], `UPDATE counter SET value = value + 1 WHERE name = 'release' RETURNING value`)
		if err != nil {
			return err
		}
		_, err = t.Exec(ctx, `
			INSERT INTO release (id, catalog_id, state, locale, locales, products, published_at, superseded_at, touched_at, base_id)
			VALUES ($1, $2, $3, $4, '', 0, 0, 0, `+s.db.ClockSQL()+`, $5)`, id, made.CatalogID, catalog.ReleaseBuilding, made.Locale, made.BaseID)
		return err
	})
	return id, err
}

// finishRelease is the flip: from here on the release is served, unless a
// later one of the catalog was finished first, which then stays. CONFLICT if
// the catalog was rolled back since the release was begun: it is finished, and
// not served.
func (s *PublishService) finishRelease(ctx context.Context, actor store.Actor, made *segment.Release, serve bool) error {
	var hold routing.Hold
	err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) (err error) {
		// The catalog's row is locked from here on, so that flips come one by one.
		if hold, err = routing.LockHold(ctx, t, made.CatalogID); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, `
			UPDATE catalog SET release_id = CASE WHEN $3 AND held_below < $2 AND (release_id IS NULL OR release_id < $2) THEN $2 ELSE release_id END
			WHERE id = $1`, made.CatalogID, made.ID, serve); err != nil {
			return err
		}
		n, err := t.Exec(ctx, `
			UPDATE release SET state = $2, locales = $3, products = $4, published_at = $5, added = $6, changed = $7, removed = $8, preview = $9, revision = $10,
			       base_id = $11, first_ordinal = $12, ordinals = $13, format = $14
			WHERE id = $1 AND state = $15`,
			made.ID, catalog.ReleasePublished, strings.Join(made.Locales, " "), made.Products, store.Micros(t.Now),
			made.Added, made.Changed, made.Removed, !serve, made.Revision,
			made.BaseID, made.FirstOrdinal, made.Ordinals, segment.ReleaseFormat, catalog.ReleaseBuilding)
		if err != nil {
			return err
		}
		if n == 0 {
			return errSwept
		}
		made.PublishedAt = t.Now
		return routing.Supersede(ctx, s.db, t, made.CatalogID)
	})
	if err == nil && serve && hold.Holds() && made.ID < hold.Below {
		err = &store.Error{Code: store.Conflict, Detail: fmt.Sprintf("The catalog %q was rolled back to release %d while release %d was built, so release %[3]d is kept and not served. Serve it with catalogReleaseServe, or publish again.",
			made.CatalogID, hold.ReleaseID, made.ID)}
	}
	return err
}

// endHold ends the hold that a publication ends, where there was no release to
// make.
func (s *PublishService) endHold(ctx context.Context, actor store.Actor, catalogID string, how publication) error {
	if how.ends == 0 {
		return nil
	}
	return routing.EndHold(ctx, s.db, actor, routing.Hold{CatalogID: catalogID, Below: how.ends})
}
