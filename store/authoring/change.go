package authoring

import (
	"context"
	"database/sql"
	"slices"
	"strings"

	"portico/store"
	"portico/store/db"
)

// rowChange is a written resource: its table and id, or SKU for a price.
type rowChange struct{ table, id string }

// tracked are the tables whose changes are recorded by row. A publication compares hierarchies and nodes as a
// whole instead: hierarchy is listed for the list of pending changes, node also for its curated products.
var tracked = []string{"attribute", "catalog", "file", "hierarchy", "node", "price", "price_modifier", "pricebook", "product", "redirect", "synonym"}

// maxTracked bounds the stored changes. A write beyond it deletes them all, and the next
// publications are full ones.
const maxTracked = 50_000

// Touch records that rows of a table were written.
func (w *Writer) Touch(table string, ids ...string) {
	if !slices.Contains(tracked, table) {
		return
	}
	for _, id := range ids {
		w.touched = append(w.touched, rowChange{table, id})
	}
}

// storeChanges starts a revision and stores the touched rows. It deletes all stored changes instead if no release can be the
// base of a delta (changesNeeded), or if there would be more than maxTracked.
func (w *Writer) storeChanges(ctx context.Context) error {
	revision, _, err := db.One(ctx, w.Session, db.Scalar[int64], `UPDATE counter SET value = value + 1 WHERE name = 'revision' RETURNING value`)
	if err != nil || len(w.touched) == 0 {
		return err
	}
	needed, err := w.changesNeeded(ctx)
	if err != nil {
		return err
	}
	if !needed {
		return w.dropChanges(ctx, revision)
	}
	changes := store.Unique(w.touched)
	kept, _, err := db.One(ctx, w.Session, db.Scalar[int64], `UPDATE counter SET value = value + $1 WHERE name = 'tracked' RETURNING value`, len(changes))
	if err != nil {
		return err
	}
	if kept > maxTracked {
		return w.dropChanges(ctx, revision)
	}
	slices.SortFunc(changes, func(a, b rowChange) int {
		return strings.Compare(a.table+" "+a.id, b.table+" "+b.id)
	})
	rows := make([][]any, len(changes))
	for i, c := range changes {
		rows[i] = []any{revision, c.table, c.id}
	}
	return w.InsertRows(ctx, "authored_change", []string{"revision", "kind", "id"}, rows)
}

// changesNeeded reports whether a release can be the base of a delta: one is being built, or is not
// older than the first stored change. An import of a new shop stores no changes.
func (w *Writer) changesNeeded(ctx context.Context) (bool, error) {
	_, found, err := db.One(ctx, w.Session, db.Scalar[int64], `
		SELECT id FROM release WHERE revision < 0 OR revision >= (SELECT value FROM counter WHERE name = 'tracked_from') LIMIT 1`)
	return found, err
}

// dropChanges deletes the changes of all revisions up to this one.
func (w *Writer) dropChanges(ctx context.Context, revision int64) error {
	for _, statement := range []string{
		`UPDATE counter SET value = 0 WHERE name = 'tracked'`,
		`DELETE FROM authored_change`,
	} {
		if _, err := w.Exec(ctx, statement); err != nil {
			return err
		}
	}
	_, err := w.Exec(ctx, `UPDATE counter SET value = $1 WHERE name = 'tracked_from'`, revision)
	return err
}

// ChangesKnownSince reports whether all changes after a revision are known.
func ChangesKnownSince(ctx context.Context, in db.Session, revision int64) (bool, error) {
	from, _, err := db.One(ctx, in, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'tracked_from'`)
	return revision >= from, err
}

// ChangedSince returns the distinct ids written after a revision, by table; complete is
// false if they are no longer all known.
func ChangedSince(ctx context.Context, in db.Session, revision int64) (byTable map[string][]string, complete bool, err error) {
	byTable = map[string][]string{}
	_, err = db.Collect(ctx, in, func(rows *sql.Rows) (c rowChange, err error) {
		var from int64
		if err = rows.Scan(&from, &c.table, &c.id); c.table == "" { // the row of the counter
			complete = revision >= from
		} else {
			byTable[c.table] = append(byTable[c.table], c.id)
		}
		return c, err
	}, `
		SELECT value, '' AS kind, '' AS id FROM counter WHERE name = 'tracked_from'
		UNION ALL
		SELECT DISTINCT 0, kind, id FROM authored_change WHERE revision > $1 ORDER BY kind, id`, revision)
	return byTable, complete && err == nil, err
}
