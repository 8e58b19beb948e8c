package job

import (
	"context"
	"time"

	"portico/store/db"
)

// Sweep returns the sweep that deletes jobs that finished longer ago than kept.
func (s *Service) Sweep(kept time.Duration) db.Sweep {
	return s.db.RetentionSweep("jobs", time.Hour, kept,
		func(ctx context.Context, before int64) error {
			return s.db.InBatches(ctx, "", func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
				return t.Exec(ctx, `
					DELETE FROM job WHERE id IN (
					    SELECT id FROM job WHERE finished_at > 0 AND finished_at < $1 ORDER BY finished_at, created_at, id LIMIT $2)`, before, rows)
			})
		},
		func(ctx context.Context, before int64, most int) (int, error) {
			return db.CountUpTo(ctx, s.db, most, `job WHERE finished_at > 0 AND finished_at < $1`, before)
		})
}
