package redeem

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/promotion/code"
)

// SweepUsages deletes the usages that are older than retention, and the archived promotions
// without usages. The used number of a code does not change. Usages that were imported without a
// time stay.
func (s *Service) SweepUsages(actor store.Actor, retention time.Duration) db.Sweep {
	const all = `(SELECT number FROM promotion UNION ALL SELECT number FROM promotion_archive) AS promotions`
	const old = `code_usage.promotion_number = promotions.number AND code_usage.created_at > 0 AND code_usage.created_at < $1`
	return s.db.RetentionSweep("usages", time.Hour, retention,
		func(ctx context.Context, before int64) error {
			promotions, err := db.Collect(ctx, s.db.Reader, db.Scalar[int64],
				`SELECT number FROM `+all+` WHERE EXISTS (SELECT 1 FROM code_usage WHERE `+old+`) ORDER BY number`, before)
			if err != nil {
				return err
			}
			for _, number := range promotions {
				if err := s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
					// The condition is repeated: an import may have moved usages meanwhile.
					gone, err := t.Exec(ctx, `
						DELETE FROM code_usage WHERE promotion_number = $1 AND id IN (
						    SELECT id FROM code_usage
						    WHERE promotion_number = $1 AND created_at > 0 AND created_at < $2
						    ORDER BY created_at, id LIMIT $3)`, number, before, rows)
					if err != nil {
						return 0, err
					}
					return gone, usageCounts{number: -int(gone)}.add(ctx, t, importPart)
				}); err != nil {
					return err
				}
			}
			return code.PurgeArchived(ctx, s.db, actor)
		},
		func(ctx context.Context, before int64, most int) (int, error) {
			return db.CountUpTo(ctx, s.db, most, all+` JOIN code_usage ON `+old, before)
		})
}
