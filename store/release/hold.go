package release

import (
	"context"
	"database/sql"
	"fmt"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
)

// Hold is what a roll-back left of a catalog: the release it serves until
// somebody publishes the catalog on purpose.
type Hold struct {
	CatalogID      string
	ReleaseID      int64 // served; 0 for none
	RolledBackFrom int64 // the highest release that was served before

	// Below is a number of the sequence that releases are numbered from, above
	// that of each release that was begun before the roll-back. It names the
	// roll-back: no other has the same. 0 for none.
	Below int64
}

// Holds tells whether the catalog is held.
func (h Hold) Holds() bool { return h.ReleaseID != 0 && h.ReleaseID < h.Below }

const holdColumns = `id, release_id, held_below, rolled_back_from`

func scanHold(rows *sql.Rows) (h Hold, err error) {
	var served sql.NullInt64
	err = rows.Scan(&h.CatalogID, &served, &h.Below, &h.RolledBackFrom)
	h.ReleaseID = served.Int64
	return h, err
}

// HoldOf reads the hold of a catalog; the zero Hold for an unknown catalog.
func HoldOf(ctx context.Context, in db.Session, catalogID string) (Hold, error) {
	hold, _, err := db.One(ctx, in, scanHold, `SELECT `+holdColumns+` FROM catalog WHERE id = $1`, catalogID)
	return hold, err
}

// LockHold reads the hold of a catalog and locks its row; the zero Hold for an
// unknown catalog.
func LockHold(ctx context.Context, t *db.Tx, catalogID string) (Hold, error) {
	hold, _, err := db.One(ctx, t.Session, scanHold, `UPDATE catalog SET release_id = release_id WHERE id = $1 RETURNING `+holdColumns, catalogID)
	return hold, err
}

// HeldCatalogs lists the catalogs that a roll-back holds, by id.
func (s *ReleaseService) HeldCatalogs(ctx context.Context) ([]Hold, error) {
	return db.Collect(ctx, s.db.Reader, scanHold, `SELECT `+holdColumns+` FROM catalog WHERE `+catalog.RolledBackSQL+` ORDER BY id`)
}

// serve has a catalog, whose row is locked, serve a release, and holds it if
// the release is older than one that was served before.
func (s *ReleaseService) serve(ctx context.Context, t *db.Tx, before Hold, number int64) error {
	after := Hold{CatalogID: before.CatalogID, ReleaseID: number, RolledBackFrom: before.ReleaseID}
	if before.Holds() {
		after.RolledBackFrom = max(after.RolledBackFrom, before.RolledBackFrom)
	}
	if number < after.RolledBackFrom {
		below, _, err := db.One(ctx, t.Session, db.Scalar[int64], `UPDATE counter SET value = value + 1 WHERE name = 'release' RETURNING value`)
		if err != nil {
			return err
		}
		after.Below = below
		t.AfterCommit(func() {
			s.db.Log.Warn("a catalog was rolled back; imports leave it at this release until it is published on purpose",
				"catalog", after.CatalogID, "release", after.ReleaseID, "rolled_back_from", after.RolledBackFrom)
		})
	} else {
		after.RolledBackFrom = 0
	}
	_, err := t.Exec(ctx, `UPDATE catalog SET release_id = $2, held_below = $3, rolled_back_from = $4 WHERE id = $1`,
		after.CatalogID, number, after.Below, after.RolledBackFrom)
	return err
}

// EndHold ends a hold, if it is still the one.
func EndHold(ctx context.Context, d *db.DB, actor store.Actor, hold Hold) error {
	return d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		n, err := t.Exec(ctx, `UPDATE catalog SET held_below = 0, rolled_back_from = 0 WHERE id = $1 AND held_below = $2`, hold.CatalogID, hold.Below)
		if err != nil || n == 0 {
			return err
		}
		return d.BumpTopic(ctx, t, db.TopicCatalog)
	})
}

// HeldError says that a catalog was not published because it was rolled back.
type HeldError struct{ Hold Hold }

func (e *HeldError) Error() string {
	return fmt.Sprintf("The catalog %q is held at release %d, because it was rolled back from release %d. To publish it, run `portico publish %s` or the mutation catalogPublish.",
		e.Hold.CatalogID, e.Hold.ReleaseID, e.Hold.RolledBackFrom, e.Hold.CatalogID)
}

// Unwrap is the error in the words of store.
func (e *HeldError) Unwrap() error { return &store.Error{Code: store.Conflict, Detail: e.Error()} }
