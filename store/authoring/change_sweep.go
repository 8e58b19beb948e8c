package authoring

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
)

// SweepChanges deletes changes of revisions that every release includes, and all but the
// newest change of each resource. least returns the oldest revision of a release; found is
// false if there is none.
func SweepChanges(d *db.DB, least func(ctx context.Context) (revision int64, found bool, err error)) db.Sweep {
	return db.Sweep{
		Name: "changes", Every: 10 * time.Minute,
		Run: func(ctx context.Context) error {
			revision, found, err := least(ctx)
			if err != nil || !found {
				return err
			}
			if err := d.InBatches(ctx, "", func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
				n, err := t.Exec(ctx, `
					DELETE FROM authored_change WHERE (revision, kind, id) IN (
					    SELECT revision, kind, id FROM authored_change WHERE revision <= $1 ORDER BY revision, kind, id LIMIT $2)`, revision, rows)
				if err != nil || n == 0 {
					return n, err
				}
				if err := untrack(ctx, t, n); err != nil {
					return n, err
				}
				_, err = t.Exec(ctx, `UPDATE counter SET value = $1 WHERE name = 'tracked_from' AND value < $1`, revision)
				return n, err
			}); err != nil {
				return err
			}
			return sweepRepeated(ctx, d)
		},
		CountDue: func(ctx context.Context, most int) (int, error) {
			revision, found, err := least(ctx)
			if err != nil || !found {
				return 0, err
			}
			return db.CountUpTo(ctx, d, most, `authored_change WHERE revision <= $1`, revision)
		},
	}
}

// untrack subtracts deleted rows from the counter.
func untrack(ctx context.Context, t *db.Tx, rows int64) error {
	_, err := t.Exec(ctx, `UPDATE counter SET value = CASE WHEN value > $1 THEN value - $1 ELSE 0 END WHERE name = 'tracked'`, rows)
	return err
}

// sweepRepeated deletes changes of resources that changed again later.
func sweepRepeated(ctx context.Context, d *db.DB) error {
	type row struct {
		revision int64
		kind, id string
	}
	repeated, err := db.Collect(ctx, d.Reader, func(rows *sql.Rows) (r row, err error) {
		return r, rows.Scan(&r.revision, &r.kind, &r.id)
	}, `
		SELECT revision, kind, id FROM (
		    SELECT revision, kind, id, ROW_NUMBER() OVER (PARTITION BY kind, id ORDER BY revision DESC) AS place FROM authored_change) AS placed
		WHERE place > 1 ORDER BY revision, kind, id`)
	if err != nil {
		return err
	}
	return store.InBlocks(repeated, 128, func(block []row) error {
		places, args := make([]string, len(block)), []any{}
		for i, r := range block {
			places[i] = fmt.Sprintf(`(CAST($%d AS BIGINT), CAST($%d AS TEXT), CAST($%d AS TEXT))`, len(args)+1, len(args)+2, len(args)+3)
			args = append(args, r.revision, r.kind, r.id)
		}
		var n int64
		err := d.Update(ctx, "", func(ctx context.Context, t *db.Tx) (err error) {
			if n, err = t.Exec(ctx, `DELETE FROM authored_change WHERE (revision, kind, id) IN (VALUES `+strings.Join(places, ", ")+`)`, args...); err != nil {
				return err
			}
			return untrack(ctx, t, n)
		})
		db.AddSwept(ctx, n)
		db.Throttle(ctx)
		return err
	})
}
