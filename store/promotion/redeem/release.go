package redeem

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/db"
)

// ReleaseCode gives back the uses that a reference redeemed: of one code, or of all codes if code
// is nil. It is idempotent. It returns every usage of the reference, the oldest first, and
// NOT_FOUND if there is none.
func (s *RedeemService) ReleaseCode(ctx context.Context, actor store.Actor, reference string, code *string) ([]*CodeUsage, error) {
	unknown := store.NotFoundf([]string{"reference"}, "has no usages: %q", store.Abbreviate(reference))
	if !store.IsStorableText(reference) || code != nil && !store.IsStorableText(*code) {
		return nil, unknown
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) ([]*CodeUsage, error) {
		if err := release(ctx, t, reference, code); err != nil {
			return nil, err
		}
		usages, err := usagesByReference(ctx, t, reference, code)
		if err == nil && len(usages) == 0 {
			err = unknown
		}
		return usages, err
	})
}

func release(ctx context.Context, t *db.Tx, reference string, code *string) error {
	type back struct {
		number, epoch int64
		code          string
		units         int
		created       int64
	}
	list, err := db.Collect(ctx, t.Session, func(rows *sql.Rows) (b back, err error) {
		return b, rows.Scan(&b.number, &b.epoch, &b.code, &b.units, &b.created)
	}, `
		UPDATE code_usage SET released_at = $2
		WHERE reference = $1 AND released_at IS NULL AND (CAST($3 AS TEXT) IS NULL OR code = CAST($3 AS TEXT))
		RETURNING promotion_number, epoch, code, units, created_at`, reference, store.Micros(t.Now), code)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b back) int { // the order of redemption.lock, since writes that lock in different orders deadlock
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.number, b.number), cmp.Compare(a.epoch, b.epoch))
	})
	for _, b := range list {
		// A code that was deleted meanwhile gets nothing back, nor does a later code with the
		// same text: it never had these uses. A code that was imported again may have fewer.
		if _, err := t.Exec(ctx, `
			UPDATE promotion_code SET used = CASE WHEN used >= $4 THEN used - $4 ELSE 0 END
			WHERE promotion_number = $1 AND epoch = $2 AND code = $3 AND (created_at <= $5 OR CAST($5 AS BIGINT) = 0)`, b.number, b.epoch, b.code, b.units, b.created); err != nil {
			return err
		}
	}
	return nil
}

// usagesByReference returns the usages of a reference, of one code or of all.
func usagesByReference(ctx context.Context, t *db.Tx, reference string, code *string) ([]*CodeUsage, error) {
	return db.Collect(ctx, t.Session, scanUsage, `
		SELECT `+usageColumns+` FROM code_usage
		WHERE reference = $1 AND (CAST($2 AS TEXT) IS NULL OR code = CAST($2 AS TEXT))
		ORDER BY created_at, id`, reference, code)
}
