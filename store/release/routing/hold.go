package routing

import (
	"context"
	"database/sql"
	"fmt"

	"portico/store"
	"portico/store/db"
)

// Hold is the effect of a roll-back: the catalog serves a release until
// somebody publishes the catalog on purpose.
type Hold struct {
	CatalogID      string
	ReleaseID      int64 // served; 0 for none
	RolledBackFrom int64 // the highest release that was served before

	// Below is a number of the sequence that numbers releases, which no release has: above each
	// release that was begun before the roll-back. It identifies the roll-back.
	// 0 for none.
	Below int64
}

// Holds reports whether the catalog is held.
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

// EndHold ends a hold, unless another roll-back replaced it.
func EndHold(ctx context.Context, d *db.DB, actor store.Actor, hold Hold) error {
	return d.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		n, err := t.Exec(ctx, `UPDATE catalog SET held_below = 0, rolled_back_from = 0 WHERE id = $1 AND held_below = $2`, hold.CatalogID, hold.Below)
		if err != nil || n == 0 {
			return err
		}
		t.Record(store.NewAuditEvent(store.AuditCatalog, hold.CatalogID, store.AuditUnheld))
		return d.BumpTopic(ctx, t, db.TopicCatalog)
	})
}

// HeldError reports that a catalog was not published because it was rolled
// back.
type HeldError struct{ Hold Hold }

func (e *HeldError) Error() string {
	return fmt.Sprintf("The catalog %q is held at release %d, because it was rolled back from release %d. Publish the catalog to serve a newer release.",
		e.Hold.CatalogID, e.Hold.ReleaseID, e.Hold.RolledBackFrom)
}

// Unwrap returns the error as a *store.Error, a CONFLICT.
func (e *HeldError) Unwrap() error { return &store.Error{Code: store.Conflict, Detail: e.Error()} }
