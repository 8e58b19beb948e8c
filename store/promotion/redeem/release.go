package redeem

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/db"
)

// ReleaseCode gives back what a reference redeemed: of one code, or of all
// with a nil code. It is idempotent; what was given back is not given back
// once more. The answer is every usage of the reference, the oldest first.
// NOT_FOUND when it redeemed nothing.
func (s *RedeemService) ReleaseCode(ctx context.Context, actor store.Actor, reference string, code *string) ([]*CodeUsage, error) {
	unknown := store.NotFoundf([]string{"reference"}, "redeemed no such code: %q", store.Abbreviate(reference))
	if !store.IsStorableText(reference) || code != nil && !store.IsStorableText(*code) {
		return nil, unknown
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) ([]*CodeUsage, error) {
		if err := release(ctx, t, reference, code); err != nil {
			return nil, err
		}
		usages, err := usagesOf(ctx, t, reference, code)
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
	slices.SortFunc(list, func(a, b back) int { // in one order everywhere (redemption.lock), or two writes deadlock
		return cmp.Or(cmp.Compare(a.code, b.code), cmp.Compare(a.number, b.number), cmp.Compare(a.epoch, b.epoch))
	})
	for _, b := range list {
		// A code that was deleted meanwhile gets nothing back, and neither does
		// one that was made of the same text since: it never had these uses. One
		// that was imported anew may have fewer.
		if _, err := t.Exec(ctx, `
			UPDATE promotion_code SET used = CASE WHEN used >= $4 THEN used - $4 ELSE 0 END
			WHERE promotion_number = $1 AND epoch = $2 AND code = $3 AND (created_at <= $5 OR CAST($5 AS BIGINT) = 0)`, b.number, b.epoch, b.code, b.units, b.created); err != nil {
			return err
		}
	}
	return nil
}

// usagesOf are those of a reference, of one code or of all.
func usagesOf(ctx context.Context, t *db.Tx, reference string, code *string) ([]*CodeUsage, error) {
	return db.Collect(ctx, t.Session, scanUsage, `
		SELECT `+usageColumns+` FROM code_usage
		WHERE reference = $1 AND (CAST($2 AS TEXT) IS NULL OR code = CAST($2 AS TEXT))
		ORDER BY created_at, id`, reference, code)
}
