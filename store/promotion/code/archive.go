package code

import (
	"context"
	"database/sql"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/rule"
)

// A deleted promotion is archived: it leaves the table promotion, and so every list, and its
// claims no longer count. Its usages keep its number. A sweep deletes its codes, and then the
// archived promotion unless it has usages. Promotions without usages are archived too, because a
// redemption may commit a usage after the delete has looked for them.

// Archive moves a locked promotion to the archive. The archive entry covers the codes of all
// epochs, also those scheduled to be purged.
func Archive(ctx context.Context, t *db.Tx, p *rule.Promotion) error {
	for _, statement := range []struct {
		text string
		args []any
	}{
		{`INSERT INTO promotion_archive (number, id, epoch, archived_at, archived_by, body) VALUES ($1, $2, $3, $4, $5, $6)`,
			[]any{p.Number, p.ID, p.Epoch, store.Micros(t.Now), string(t.Actor), string(p.Body)}},
		{`DELETE FROM promotion_purge WHERE promotion_number = $1`, []any{p.Number}},
		{`DELETE FROM promotion WHERE number = $1`, []any{p.Number}},
	} {
		if _, err := t.Exec(ctx, statement.text, statement.args...); err != nil {
			return err
		}
	}
	return nil
}

// FindArchived returns the archived promotions that have usages, by id.
func FindArchived(ctx context.Context, in db.Session, ids []string) (map[string]EpochKey, error) {
	archived, err := db.CollectIn(ctx, in, func(rows *sql.Rows) (p db.Pair[string, EpochKey], err error) {
		return p, rows.Scan(&p.Key, &p.Value.Number, &p.Value.Epoch)
	}, ids, `
		SELECT id, number, epoch FROM promotion_archive
		WHERE id IN ($in) AND EXISTS (SELECT 1 FROM code_usage WHERE code_usage.promotion_number = promotion_archive.number)
		ORDER BY number`)
	return db.PairMap(archived), err
}

// Restore takes a promotion out of the archive, for an import of the same id. The new promotion
// takes its number, and so its usages. Its codes stay deleted, as other promotions may have
// claimed them since.
func Restore(ctx context.Context, t *db.Tx, of EpochKey) error {
	if _, err := t.Exec(ctx, `DELETE FROM promotion_archive WHERE number = $1`, of.Number); err != nil {
		return err
	}
	for epoch, found := int64(-1), true; ; {
		var err error
		epoch, found, err = db.One(ctx, t.Session, db.Scalar[int64], `
			SELECT epoch FROM promotion_code WHERE promotion_number = $1 AND epoch > $2 ORDER BY epoch LIMIT 1`, of.Number, epoch)
		if err != nil || !found {
			return err
		}
		if err := SchedulePurge(ctx, t, &rule.Promotion{Number: of.Number, Epoch: epoch}); err != nil {
			return err
		}
	}
}

// SchedulePurge leaves the codes of a promotion's epoch to the sweep. Nobody sees them any more.
func SchedulePurge(ctx context.Context, t *db.Tx, p *rule.Promotion) error {
	_, err := t.Exec(ctx, `
		INSERT INTO promotion_purge (promotion_number, epoch) VALUES ($1, $2)
		ON CONFLICT (promotion_number, epoch) DO NOTHING`, p.Number, p.Epoch)
	return err
}

// PurgeArchived deletes the codes of archived promotions, and then the promotions without usages.
func PurgeArchived(ctx context.Context, d *db.DB, actor store.Actor) error {
	numbers, err := db.Collect(ctx, d.Reader, db.Scalar[int64], `
		SELECT number FROM promotion_archive
		WHERE EXISTS (SELECT 1 FROM promotion_code WHERE promotion_code.promotion_number = promotion_archive.number)
		   OR NOT EXISTS (SELECT 1 FROM code_usage WHERE code_usage.promotion_number = promotion_archive.number)
		ORDER BY number`)
	if err != nil {
		return err
	}
	for _, number := range numbers {
		if err := d.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
			return purgeOneArchived(ctx, t, number, rows)
		}); err != nil {
			return err
		}
	}
	return nil
}

// purgeOneArchived deletes a batch of the codes of an archived promotion. After the last batch it
// deletes the promotion, unless it has usages, and returns 0, at which InBatches ends; else rows. The row lock keeps the promotion
// from being restored meanwhile.
func purgeOneArchived(ctx context.Context, t *db.Tx, number int64, rows int) (done int64, err error) {
	_, found, err := db.One(ctx, t.Session, db.Scalar[int64], `SELECT number FROM promotion_archive WHERE number = $1`+t.ForUpdate("promotion_archive"), number)
	if err != nil || !found {
		return 0, err
	}
	epoch, found, err := db.One(ctx, t.Session, db.Scalar[int64], `SELECT epoch FROM promotion_code WHERE promotion_number = $1 ORDER BY epoch LIMIT 1`, number)
	if err != nil {
		return 0, err
	}
	if found {
		_, err := purgeEpoch(ctx, t, number, epoch, rows)
		return int64(rows), err
	}
	gone, err := t.Exec(ctx, `
		DELETE FROM promotion_archive WHERE number = $1 AND NOT EXISTS (SELECT 1 FROM code_usage WHERE promotion_number = $1)`, number)
	if err == nil && gone > 0 {
		_, err = t.Exec(ctx, `DELETE FROM code_usage_total WHERE promotion_number = $1`, number)
	}
	return 0, err
}
