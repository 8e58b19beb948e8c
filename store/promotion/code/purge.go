package code

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db"
)

// Sweep returns the sweep that deletes the codes of former epochs and of deleted promotions.
func (s *Service) Sweep(actor store.Actor, every time.Duration) db.Sweep {
	return db.Sweep{
		Name: "codes", Every: every,
		Run: func(ctx context.Context) error { return s.purgeCodes(ctx, actor) },
		CountDue: func(ctx context.Context, most int) (int, error) {
			purged, err := db.CountUpTo(ctx, s.db, most, `
				promotion_purge JOIN promotion_code ON promotion_code.promotion_number = promotion_purge.promotion_number AND promotion_code.epoch = promotion_purge.epoch`)
			if err != nil || purged >= most {
				return purged, err
			}
			dead, err := db.CountUpTo(ctx, s.db, most-purged, `promotion_archive JOIN promotion_code ON promotion_code.promotion_number = promotion_archive.number`)
			return purged + dead, err
		},
	}
}

// purgeCodes deletes the codes of purged epochs and of archived promotions, in short
// transactions.
func (s *Service) purgeCodes(ctx context.Context, actor store.Actor) error {
	dead, err := db.Collect(ctx, s.db.Reader, scanEpochKey, `
		SELECT promotion_number, epoch FROM promotion_purge ORDER BY promotion_number, epoch`)
	if err != nil {
		return err
	}
	for _, of := range dead {
		if err := s.db.InBatches(ctx, actor, func(ctx context.Context, t *db.Tx, rows int) (int64, error) {
			return purgeScheduled(ctx, t, of.Number, of.Epoch, rows)
		}); err != nil {
			return err
		}
	}
	return PurgeArchived(ctx, s.db, actor)
}

// purgeEpoch deletes a batch of the codes of an epoch and returns how many.
func purgeEpoch(ctx context.Context, t *db.Tx, number, epoch int64, rows int) (int, error) {
	codes, err := db.Collect(ctx, t.Session, db.Scalar[string], `
		SELECT code FROM promotion_code WHERE promotion_number = $1 AND epoch = $2 ORDER BY code LIMIT $3`, number, epoch, rows)
	if err != nil || len(codes) == 0 {
		return 0, err
	}
	return deleteCodes(ctx, t, number, epoch, codes)
}

// purgeScheduled deletes a batch of the codes of an epoch that SchedulePurge left. If none are left, it deletes the entry of the
// epoch and returns 0, at which InBatches ends; else rows.
func purgeScheduled(ctx context.Context, t *db.Tx, number, epoch int64, rows int) (done int64, err error) {
	codes, err := purgeEpoch(ctx, t, number, epoch, rows)
	if err != nil || codes > 0 {
		return int64(rows), err
	}
	_, err = t.Exec(ctx, `DELETE FROM promotion_purge WHERE promotion_number = $1 AND epoch = $2`, number, epoch)
	return 0, err
}
