package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/index"
	"portico/store/release/routing"
	"portico/store/release/segment"
)

// Publish makes a new release of a catalog from the current authored data and
// then serves it. Until then, and when it is interrupted, the old one is served.
// It reads one snapshot and writes in short transactions, so that it blocks
// nobody. If the new release would show the same as the served one, Publish
// returns the served one. NOT_FOUND for an unknown catalog.
//
// Publish ends the hold of a catalog that was rolled back. CONFLICT when it is
// rolled back while the release is built: the release is kept, but not served.
//
// A whole release needs about 0.4 kB of memory for each live product, as much
// again for the garbage collector, and twice Config.WordBytes. Texts stay
// on disk. A delta reads sort keys, and lists of which something changes: up to 0.15 kB for each product.
func (s *Service) Publish(ctx context.Context, actor store.Actor, catalogID string, progress Progress) (*segment.Release, error) {
	return s.PublishWithNotes(ctx, actor, catalogID, ReleaseNotes{}, progress)
}

// PublishWithNotes is Publish with notes for a new release. A release that is served already keeps its own.
// UNPROCESSABLE for notes that are too long.
func (s *Service) PublishWithNotes(ctx context.Context, actor store.Actor, catalogID string, notes ReleaseNotes, progress Progress) (*segment.Release, error) {
	if err := notes.check(); err != nil {
		return nil, err
	}
	return s.publish(ctx, actor, catalogID, publication{serve: true, ends: anyHold, notes: notes}, progress)
}

// PublishUnlessHeld is Publish for callers that nobody told to publish, such as an
// import. For a catalog that was rolled back it returns a *routing.HeldError.
func (s *Service) PublishUnlessHeld(ctx context.Context, actor store.Actor, catalogID string, progress Progress) (*segment.Release, error) {
	return s.publish(ctx, actor, catalogID, publication{serve: true}, progress)
}

// Preview makes a release without serving it. View shows it to shoppers who
// request its number, and Releases.Serve serves it.
func (s *Service) Preview(ctx context.Context, actor store.Actor, catalogID string, progress Progress) (*segment.Release, error) {
	return s.publish(ctx, actor, catalogID, publication{}, progress)
}

// buildsAtMost bounds how often a publication starts when its release is swept.
const buildsAtMost = 3

// publish builds a release. It starts again if its release was swept as dead, for example because the
// server was suspended or the database's clock was changed. If there was no room for new sort keys, it starts again with a
// delta upon the base, and then with a whole release.
func (s *Service) publish(ctx context.Context, actor store.Actor, catalogID string, how publication, progress Progress) (made *segment.Release, err error) {
	for range buildsAtMost {
		made, err = s.build(ctx, actor, catalogID, &how, progress)
		switch {
		case errors.Is(err, errNoRoom):
			how.onBase, how.whole = true, how.onBase // whole the second time
		case !errors.Is(err, errSwept):
			return made, err
		}
	}
	return made, err
}

// build makes a release as how says, in these steps:
//   - if it is to be served and nothing was authored since, it returns the served release;
//   - it plans the release in a snapshot, takes a number for it, and writes what it reads from authored data;
//   - it writes the rest, and compares the release with the served one;
//   - a base ends here. A release that is to be served and shows the same as the served one is deleted again, and the served
//     one is returned;
//   - it publishes the release, and serves it unless it is a preview.
//
// Whenever it returns the served release, it ends the publication's hold.
func (s *Service) build(ctx context.Context, actor store.Actor, catalogID string, how *publication, progress Progress) (*segment.Release, error) {
	if progress == nil {
		progress = func(int, int) {}
	}
	if how.serve {
		if served, err := s.upToDate(ctx, catalogID, how); err != nil || served != nil {
			if served != nil {
				progress(served.Products, served.Products)
				err = s.endHold(ctx, actor, catalogID, *how)
			}
			return served, err
		}
	}
	var w *releaseWriter
	made, err := s.newRelease(ctx, catalogID)
	if err != nil {
		return nil, err
	}
	made.Label, made.Note = how.notes.Label, how.notes.Note
	err = s.db.RenewableSnapshot(ctx, func(snapshot *db.Snapshot) error {
		plan, err := s.planRelease(ctx, snapshot, made, *how)
		if err != nil {
			return err
		}
		if made.ID, err = s.startRelease(ctx, actor, made, *how); err != nil {
			return err
		}
		w = newReleaseWriter(s, actor, plan, made)
		return w.writeAuthored(ctx, progress)
	})
	if err != nil {
		return nil, err
	}
	served := w.plan.served
	if err := w.writeDerived(ctx); err != nil {
		return nil, err
	}
	if how.base {
		return s.finishBase(ctx, actor, w)
	}
	if w.changes.Empty() && how.serve {
		if dropped, err := s.giveUp(ctx, actor, made, served); err != nil {
			return nil, err
		} else if dropped {
			if err := s.endHold(ctx, actor, catalogID, *how); err != nil {
				return nil, err
			}
			return segment.KeptRelease(ctx, s.db.Reader, served)
		}
	}
	if made.BaseID == 0 { // a delta is too small to mislead the query planner
		if err := s.analyzeReleases(ctx); err != nil {
			return nil, err
		}
	}
	err = s.finishRelease(ctx, actor, made, how.serve)
	s.left() // the sweep: a release may be one too many now
	return made, err
}

// newRelease returns a release of a catalog that has no number yet, in the locale of the settings.
func (s *Service) newRelease(ctx context.Context, catalogID string) (*segment.Release, error) {
	settings, err := s.db.Settings(ctx)
	if err != nil {
		return nil, err
	}
	return &segment.Release{CatalogID: catalogID, Locale: settings.Locale, Format: segment.ReleaseFormat}, nil
}

// planRelease decides what a release will hold, as a snapshot has it, and sets what made then is. It writes nothing.
// NOT_FOUND for an unknown catalog.
func (s *Service) planRelease(ctx context.Context, snapshot *db.Snapshot, made *segment.Release, how publication) (*publicationPlan, error) {
	plan := &publicationPlan{in: snapshot.Session, onBase: how.onBase}
	plan.renew = func(ctx context.Context) error { return snapshot.Renew(ctx, plan.isCurrent) }
	if err := plan.catalog(ctx, made.CatalogID); err != nil {
		return nil, err
	}
	made.Locale = cmp.Or(plan.source.Attributes.Locale, made.Locale)
	made.Revision = plan.revision
	plan.collation = index.NewCollation(made.Locale)
	if how.base {
		if err := plan.mayMakeBase(ctx, made); err != nil {
			return nil, err
		}
	} else if !how.whole {
		if err := plan.findParent(ctx, s, made.Locale); err != nil {
			return nil, err
		}
	}
	if err := plan.arrange(ctx); err != nil {
		return nil, err
	}
	if plan.delta != nil {
		made.Below = plan.delta.parent.Layers()
		made.BaseID = made.Below[0].ID
	}
	made.Products, made.FirstOrdinal, made.Ordinals = plan.kept, plan.first, plan.first+len(plan.order)
	return plan, nil
}

// analyzeReleases updates the query planner's statistics before anyone reads the
// new release. With old ones the planner would assume that the release has few
// rows, and read all of it for a page.
func (s *Service) analyzeReleases(ctx context.Context) error {
	var tables []string
	for _, table := range segment.Tables {
		tables = append(tables, table.Name)
	}
	return s.db.Analyze(ctx, tables)
}

// startRelease takes a number for the release and marks it as being built. From then on no
// sweep deletes the layers below it; errSwept if one of them is gone already. The catalog's row is locked before: a later
// roll-back has a higher number. It returns a *routing.HeldError if the catalog's hold forbids the publication.
func (s *Service) startRelease(ctx context.Context, actor store.Actor, made *segment.Release, how publication) (id int64, err error) {
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		hold, err := routing.LockHold(ctx, t, made.CatalogID)
		if err == nil {
			err = how.may(hold)
		}
		if err != nil {
			return err
		}
		if len(made.Below) > 0 { // keep the layers from the sweep
			list, args := db.InList([]any{catalog.ReleasePublished, catalog.ReleaseBase}, made.LayerIDs()[:len(made.Below)])
			n, err := t.Exec(ctx, `UPDATE release SET touched_at = `+s.db.ClockSQL()+` WHERE state IN ($1, $2) AND id IN (`+list+`)`, args...)
			if err != nil || int(n) < len(made.Below) {
				return cmp.Or[error](err, errSwept)
			}
		}
		if id, err = routing.NextNumber(ctx, t); err != nil {
			return err
		}
		_, err = t.Exec(ctx, `
			INSERT INTO release (id, catalog_id, state, locale, locales, products, published_at, superseded_at, touched_at, base_id, layers)
			VALUES ($1, $2, $3, $4, '', 0, 0, 0, `+s.db.ClockSQL()+`, $5, $6)`, id, made.CatalogID, catalog.ReleaseBuilding, made.Locale, made.BaseID, made.PackLayers())
		return err
	})
	return id, err
}

// finishRelease publishes the release and serves it, unless a later one of the
// catalog was finished first. CONFLICT if the catalog was rolled back since the
// release was started: it is published, but not served.
func (s *Service) finishRelease(ctx context.Context, actor store.Actor, made *segment.Release, serve bool) error {
	var hold routing.Hold
	err := s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) (err error) {
		// Locks the catalog's row, so that releases are served one after the other.
		if hold, err = routing.LockHold(ctx, t, made.CatalogID); err != nil {
			return err
		}
		if _, err := t.Exec(ctx, `
			UPDATE catalog SET release_id = CASE WHEN $3 AND held_below < $2 AND (release_id IS NULL OR release_id < $2) THEN $2 ELSE release_id END
			WHERE id = $1`, made.CatalogID, made.ID, serve); err != nil {
			return err
		}
		if err := endBuild(ctx, t, made, catalog.ReleasePublished, !serve, t.Now); err != nil {
			return err
		}
		recordRelease(t, hold, made, serve)
		made.PublishedAt, made.Actor = t.Now, t.Actor
		if serve {
			made.ServedAt = t.Now
		}
		return routing.Supersede(ctx, s.db, t, made.CatalogID)
	})
	if err == nil && serve && hold.Holds() && made.ID < hold.Below {
		err = &store.Error{Code: store.Conflict, Detail: fmt.Sprintf("The catalog %q was rolled back to release %d while release %d was built, so release %[3]d is kept and not served. Serve it with catalogReleaseServe, or publish again.",
			made.CatalogID, hold.ReleaseID, made.ID)}
	}
	return err
}

// endBuild sets the state of a release that was built, and what it holds. errSwept if a sweep deleted it meanwhile.
func endBuild(ctx context.Context, t *db.Tx, made *segment.Release, state string, preview bool, published time.Time) error {
	n, err := t.Exec(ctx, `
		UPDATE release SET state = $2, locales = $3, products = $4, published_at = CAST($5 AS BIGINT), added = $6, changed = $7, removed = $8, preview = $9, revision = $10,
		       equal_to = $11, first_ordinal = $12, ordinals = $13, format = $14, nodes_since = $15, nodes_at = $16, nodes_by = $23,
		       actor = $18, label = $19, note = $20, bytes = $21,
		       served_at = CASE WHEN EXISTS (SELECT 1 FROM catalog WHERE id = $22 AND release_id = $1) THEN CAST($5 AS BIGINT) ELSE 0 END
		WHERE id = $1 AND state = $17`,
		made.ID, state, made.PackLocales(), made.Products, store.Micros(published),
		made.Added, made.Changed, made.Removed, preview, made.Revision,
		made.Equal, made.FirstOrdinal, made.Ordinals, made.Format, made.NodesSince, made.NodesAt, catalog.ReleaseBuilding,
		string(t.Actor), made.Label, made.Note, made.Bytes, made.CatalogID, made.NodesBy)
	if err == nil && n == 0 {
		err = errSwept
	}
	return err
}

// recordRelease records that a release was made, and whether its catalog serves it. hold is that of the catalog before the
// release was published: it says whether finishRelease served it.
func recordRelease(t *db.Tx, hold routing.Hold, made *segment.Release, serve bool) {
	release := store.MemberChange{Path: []string{"release"}, After: store.Encode(made.ID)}
	action := store.AuditPreviewed
	if serve && hold.CatalogID != "" && hold.Below < made.ID && hold.ReleaseID < made.ID {
		if action = store.AuditPublished; hold.ReleaseID != 0 {
			release.Before = store.Encode(hold.ReleaseID)
		}
	}
	e := store.NewAuditEvent(store.AuditCatalog, made.CatalogID, action, release)
	for _, products := range []struct {
		member string
		count  int
	}{{"products", made.Products}, {"products_added", made.Added}, {"products_changed", made.Changed}, {"products_removed", made.Removed}} {
		e.Add(store.MemberChange{Path: []string{products.member}, After: store.Encode(products.count)})
	}
	t.Record(e)
}

// endHold ends the hold that the publication ends, if there is one, when no release was made.
func (s *Service) endHold(ctx context.Context, actor store.Actor, catalogID string, how publication) error {
	if how.ends == 0 {
		return nil
	}
	return routing.EndHold(ctx, s.db, actor, routing.Hold{CatalogID: catalogID, Below: how.ends})
}
