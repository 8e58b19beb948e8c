package access

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// SweepClients deletes clients that were revoked longer ago than kept, which is longer than
// their tokens are valid.
func (s *Service) SweepClients(actor store.Actor, kept time.Duration) db.Sweep {
	return s.db.RetentionSweep("clients", time.Hour, kept,
		func(ctx context.Context, before int64) error {
			return s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
				n, err := t.Exec(ctx, `
					DELETE FROM api_client WHERE id IN (
					    SELECT id FROM api_client WHERE revoked_at > 0 AND revoked_at < $1 ORDER BY created_at, id LIMIT $2)`, before, rows)
				if err != nil || n == 0 {
					return n, err
				}
				return n, s.db.BumpTopic(ctx, t, db.TopicClients)
			})
		},
		func(ctx context.Context, before int64, most int) (int, error) {
			return db.CountUpTo(ctx, s.db, most, `api_client WHERE revoked_at > 0 AND revoked_at < $1`, before)
		})
}
