package shop

import (
	"context"
	"time"

	"portico/store"
	"portico/store/access"
	"portico/store/job"
	"portico/store/promotion"
	"portico/store/publish"
)

// Sweep removes what no one reads any more, in short transactions: the codes of
// promotions that have been done away with, and releases (SweepReleases).
func (s *Store) Sweep(ctx context.Context, actor store.Actor) error {
	if err := promotion.PurgeCodes(ctx, s.PromotionService, actor); err != nil {
		return err
	}
	return publish.SweepReleases(ctx, s.PublishService, actor)
}

// sweepEvery is how often a worker looks for what no one needs any more.
const sweepEvery = 10 * time.Minute

// sweeps are what a worker does away with beside its jobs. Releases are swept
// by publications, which leave them behind.
func (s *Store) sweeps() map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"idempotency keys": s.db.SweepIdempotencyKeys,
		"signing keys":     func(ctx context.Context) error { return access.SweepSigningKeys(ctx, s.AccessService, access.KeyActor) },
		"promotion codes":  func(ctx context.Context) error { return promotion.PurgeCodes(ctx, s.PromotionService, "") },
	}
}

// keepHouse sweeps at once, and again and again until ctx ends.
func (s *Store) keepHouse(ctx context.Context) {
	for ctx.Err() == nil {
		for what, sweep := range s.sweeps() {
			if s.ReadOnly() {
				break
			}
			if err := sweep(ctx); err != nil && ctx.Err() == nil {
				s.db.Log.Warn("could not sweep "+what, "error", err)
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(sweepEvery):
		}
	}
}

// jobWorks is what this version knows to do.
func (s *Store) jobWorks() map[job.JobKind]job.JobWork {
	return map[job.JobKind]job.JobWork{
		job.JobPublish: func(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
			return publish.PublishJob(ctx, s.PublishService, task, progress)
		},
		job.JobGenerateCodes: func(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
			return promotion.GenerateJob(ctx, s.PromotionService, task, progress)
		},
	}
}
