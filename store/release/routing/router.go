// Package routing decides which release a shopper sees. A Table holds the catalogs,
// rules and served releases, a Router reads it and changes what a catalog serves,
// and a Hold keeps a catalog at a release after a roll-back. It must not import
// release or publish.
package routing

import (
	"context"
	"strconv"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/release/segment"
)

// Router knows which release each catalog serves, and which catalog each
// shopper sees.
type Router struct {
	db        *db.DB
	table     db.TopicCache[*Table]
	last      *Table // the one before, whose Routes the next one keeps if it routes alike; only the read of table uses it; nil for none
	histories histories

	// BeforeServe is called with the number of the release that Serve is to serve. Set it before the first call.
	BeforeServe func(ctx context.Context, actor store.Actor, number int64)
}

// NewRouter returns a router that reads a database.
func NewRouter(d *db.DB) *Router {
	return &Router{db: d, BeforeServe: func(context.Context, store.Actor, int64) {}}
}

// Table returns the current routing table.
func (r *Router) Table(ctx context.Context) (*Table, error) {
	return r.table.Get(ctx, r.db, db.TopicCatalog, func(ctx context.Context) (*Table, error) {
		epoch := r.db.Epoch() // before anything is read
		table, err := r.readTable(ctx)
		if err != nil {
			return nil, err
		}
		if table.states, err = r.histories.advance(ctx, r.db.Reader, epoch, table.releases); err != nil {
			return nil, err
		}
		table.numberRoutes(r.last)
		r.last = table
		return table, nil
	})
}

// CachedTable returns the routing table if Table would not read it.
func (r *Router) CachedTable() (table *Table, ok bool) { return r.table.Cached(r.db, db.TopicCatalog) }

// CatalogIDs lists the catalogs, published or not, oldest first.
func (r *Router) CatalogIDs(ctx context.Context) ([]string, error) {
	table, err := r.readTable(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(table.catalogs))
	for i, c := range table.catalogs {
		ids[i] = c.source.ID
	}
	return ids, nil
}

// Served reports whether the release's catalog serves it.
func (r *Router) Served(ctx context.Context, release *segment.Release) (bool, error) {
	table, err := r.Table(ctx)
	if err != nil {
		return false, err
	}
	served := table.releases[release.CatalogID]
	return served != nil && served.ID == release.ID, nil
}

// Serve makes a catalog serve a release that is kept: an earlier one to
// roll back, or a preview. An earlier one holds the catalog: it stays served
// until somebody publishes the catalog on purpose, or serves a later release
// than it was rolled back from. NOT_FOUND when the release is not kept.
func (r *Router) Serve(ctx context.Context, actor store.Actor, id string) (*segment.Release, error) {
	missing := store.NotFoundf([]string{"release_id"}, "must be a release that is kept, got %q. catalogReleases lists them; or publish the catalog again.", store.Abbreviate(id))
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return nil, missing
	}
	r.BeforeServe(ctx, actor, number)
	return db.UpdateOnce(ctx, r.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) (*segment.Release, error) {
		// Locks the catalog's row before the release's, in the order of publish.Service.finishRelease.
		before, found, err := db.One(ctx, t.Session, scanHold, `
			UPDATE catalog SET release_id = release_id
			WHERE id = (SELECT catalog_id FROM release WHERE id = $1 AND state = $2)
			RETURNING `+holdColumns, number, catalog.ReleasePublished)
		if err != nil {
			return nil, err
		}
		if !found {
			return nil, missing
		}
		if err := r.serve(ctx, t, before, number); err != nil {
			return nil, err
		}
		kept, err := t.Exec(ctx, `
			UPDATE release SET superseded_at = 0, preview = FALSE, served_at = CASE WHEN id = $3 THEN served_at ELSE $4 END
			WHERE id = $1 AND state = $2`, number, catalog.ReleasePublished, before.ReleaseID, store.Micros(t.Now))
		if err != nil {
			return nil, err
		}
		if kept == 0 {
			return nil, missing
		}
		release, err := segment.KeptRelease(ctx, t.Session, number)
		if err != nil {
			return nil, err
		}
		return release, Supersede(ctx, r.db, t, release.CatalogID)
	})
}

// serve makes a catalog, whose row is locked, serve a release; before is its hold so far. It holds the
// catalog if the release is older than one that was served before, else it ends the hold. It records the change, if there is
// one, and marks the releases that are rolled back.
func (r *Router) serve(ctx context.Context, t *db.Tx, before Hold, number int64) error {
	after := Hold{CatalogID: before.CatalogID, ReleaseID: number, RolledBackFrom: before.ReleaseID}
	if before.Holds() { // a roll-back of a roll-back counts from the first
		after.RolledBackFrom = max(after.RolledBackFrom, before.RolledBackFrom)
	}
	if number < after.RolledBackFrom {
		below, err := NextNumber(ctx, t)
		if err != nil {
			return err
		}
		after.Below = below // a number that no release has: releases above it are later than this roll-back
		t.AfterCommit(func() {
			r.db.Log.Warn("a catalog is held at a release below one that it served; it stays there until it is published on purpose",
				"catalog", after.CatalogID, "release", after.ReleaseID, "rolled_back_from", after.RolledBackFrom)
		})
	} else {
		after.RolledBackFrom = 0
	}
	if number != before.ReleaseID || before.Holds() != after.Holds() {
		change := store.MemberChange{Path: []string{"release"}, Before: store.Encode(before.ReleaseID), After: store.Encode(number)}
		if before.ReleaseID == 0 {
			change.Before = nil
		}
		action := store.AuditPublished
		if number < before.ReleaseID { // a later release may still be held, below the highest one
			action = store.AuditRolledBack
		}
		t.Record(store.NewAuditEvent(store.AuditCatalog, after.CatalogID, action, change))
	}
	if _, err := t.Exec(ctx, `UPDATE catalog SET release_id = $2, held_below = $3, rolled_back_from = $4 WHERE id = $1`,
		after.CatalogID, number, after.Below, after.RolledBackFrom); err != nil {
		return err
	}
	// What shoppers were served after this release is taken back, and this one is not.
	_, err := t.Exec(ctx, `UPDATE release SET rolled_back = (id > $2) WHERE catalog_id = $1 AND (id = $2 OR id > $2 AND id <= $3)`,
		after.CatalogID, number, after.RolledBackFrom)
	return err
}

// NextNumber takes a number that is above those of all releases so far.
func NextNumber(ctx context.Context, t *db.Tx) (int64, error) {
	number, _, err := db.One(ctx, t.Session, db.Scalar[int64], `UPDATE counter SET value = value + 1 WHERE name = 'release' RETURNING value`)
	return number, err
}

// HeldCatalogs lists the catalogs that a roll-back holds, by id.
func (r *Router) HeldCatalogs(ctx context.Context) ([]Hold, error) {
	return db.Collect(ctx, r.db.Reader, scanHold, `SELECT `+holdColumns+` FROM catalog WHERE `+catalog.RolledBackSQL+` ORDER BY id`)
}

// Supersede marks the releases of a catalog that are not served as superseded
// from now on, and announces the change to all servers.
func Supersede(ctx context.Context, d *db.DB, t *db.Tx, catalogID string) error {
	if _, err := t.Exec(ctx, `
		UPDATE release SET superseded_at = `+t.LaterSQL(`CAST($2 AS BIGINT)`)+`
		WHERE catalog_id = $1 AND state = $3 AND superseded_at = 0
		  AND id NOT IN (SELECT release_id FROM catalog WHERE id = $1 AND release_id IS NOT NULL)`,
		catalogID, store.Micros(t.Now), catalog.ReleasePublished); err != nil {
		return err
	}
	return d.BumpTopic(ctx, t, db.TopicCatalog)
}
