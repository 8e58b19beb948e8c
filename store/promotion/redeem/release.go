package redeem

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
)

// Release gives back the uses that a reference redeemed: of one code, or of all codes if text
// is nil. It is idempotent. It returns every usage of the reference, the oldest first, and
// NOT_FOUND if there is none.
func (s *Service) Release(ctx context.Context, actor store.Actor, reference string, text *string) ([]*CodeUsage, error) {
	unknown := store.NotFoundf([]string{"reference"}, "has no usages: %q", store.Abbreviate(reference))
	if !store.IsStorableText(reference) || text != nil && !store.IsStorableText(*text) {
		return nil, unknown
	}
	m, err := code.MatchOf(ctx, s.db)
	if err != nil {
		return nil, err
	}
	return db.UpdateOnce(ctx, s.db, store.IdempotencyKeyOf(ctx), actor, func(ctx context.Context, t *db.Tx) ([]*CodeUsage, error) {
		unknown := unknown
		redeemed, err := db.Collect(ctx, t.Session, db.Scalar[string], `SELECT DISTINCT code FROM code_usage WHERE reference = $1`, reference)
		if err != nil {
			return nil, err
		}
		if text != nil && len(redeemed) > 0 {
			unknown = store.NotFoundf([]string{"code"}, "was not redeemed under the reference %q: %q", store.Abbreviate(reference), store.Abbreviate(*text))
			redeemed = slices.DeleteFunc(redeemed, func(redeemedCode string) bool { return m.Key(redeemedCode) != m.Key(*text) })
		}
		if len(redeemed) == 0 {
			return nil, unknown
		}
		if err := release(ctx, t, reference, redeemed); err != nil {
			return nil, err
		}
		return usagesByReference(ctx, t, reference, redeemed)
	})
}

// release gives back the uses of codes that a reference redeemed and has not released yet.
func release(ctx context.Context, t *db.Tx, reference string, codes []string) error {
	type back struct { // what a usage gives back
		number, epoch int64
		code          string
		units         int
		created       int64
	}
	list, err := db.CollectIn(ctx, t.Session, func(rows *sql.Rows) (b back, err error) {
		return b, rows.Scan(&b.number, &b.epoch, &b.code, &b.units, &b.created)
	}, codes, `
		UPDATE code_usage SET released_at = $2
		WHERE reference = $1 AND released_at IS NULL AND code IN ($in)
		RETURNING promotion_number, epoch, code, units, created_at`, reference, store.Micros(t.Now))
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

// usagesByReference returns the usages of codes by a reference, the oldest first.
func usagesByReference(ctx context.Context, t *db.Tx, reference string, codes []string) ([]*CodeUsage, error) {
	usages, err := db.CollectIn(ctx, t.Session, scanUsage, codes, `SELECT `+usageColumns+` FROM code_usage WHERE reference = $1 AND code IN ($in)`, reference)
	slices.SortFunc(usages, func(a, b *CodeUsage) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return usages, err
}
