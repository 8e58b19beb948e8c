package audit

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// SweepEvents deletes events that are older than kept, the first ones of the feed first. 0 keeps them for ever.
func (s *Service) SweepEvents(actor store.Actor, kept time.Duration) db.Sweep {
	return s.db.RetentionSweep("audit log", time.Hour, kept, func(ctx context.Context, before int64) error {
		end, err := s.nextID(ctx) // first: events that come during the sweep stay
		if err != nil {
			return err
		}
		oldest, found, err := db.One(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM audit_event WHERE created_at >= $1 ORDER BY created_at, id LIMIT 1`, before)
		if err != nil {
			return err
		}
		if found {
			end = min(end, oldest)
		}
		return s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
			n, err := t.Exec(ctx, `DELETE FROM audit_event WHERE id IN (SELECT id FROM audit_event WHERE id < $1 ORDER BY id LIMIT $2)`, end, rows)
			if err != nil || n == 0 {
				return n, err
			}
			_, err = t.Exec(ctx, `UPDATE counter SET value = value + $1 WHERE name = 'audit_swept'`, n)
			return n, err
		})
	}, func(ctx context.Context, before int64, most int) (int, error) {
		return db.CountUpTo(ctx, s.db, most, `audit_event WHERE created_at < $1`, before)
	})
}

// nextID is the id of the next event.
func (s *Service) nextID(ctx context.Context) (string, error) {
	number, _, err := db.One(ctx, s.db.Reader, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'audit'`)
	return db.AuditID(number + 1), err
}
