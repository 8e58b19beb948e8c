package shop

import (
	"context"
	"time"

	"portico/store"
	"portico/store/access"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/job"
	"portico/store/stock"
)

// housekeeper does what nobody asked for.
const housekeeper store.Actor = "system:housekeeping"

// sweepEvery is how often a server looks for what is no longer needed, but for
// what is kept for days.
const sweepEvery = 10 * time.Minute

// sweepOfReleases is the one that publications ask for, which leave work for
// it.
const sweepOfReleases = "releases"

// sweeps are all there are, by how long what happened is kept.
func (s *Store) sweeps(kept store.Retention) []db.Sweep {
	return []db.Sweep{
		{Name: sweepOfReleases, Every: sweepEvery, Due: s.releasesDue,
			Do: func(ctx context.Context) error { return s.sweepReleases(ctx, housekeeper) }},
		{Name: "codes", Every: sweepEvery, Due: s.codesDue,
			Do: func(ctx context.Context) error { return s.purgeCodes(ctx, housekeeper) }},
		{Name: "idempotency keys", Every: sweepEvery, Do: s.db.SweepIdempotencyKeys, Due: s.db.IdempotencyKeysDue},
		{Name: "signing keys", Every: sweepEvery,
			Do: func(ctx context.Context) error { return access.SweepSigningKeys(ctx, s.AccessService, access.KeyActor) }},
		access.SweepClients(s.AccessService, housekeeper, kept.RevokedClients),
		job.SweepJobs(s.JobService, kept.FinishedJobs),
		sweepUsages(s.db, housekeeper, kept.CodeUsages),
		stock.SweepLedger(s.StockService, kept.StockLedger),
		stock.SweepChanges(s.StockService),
		authoring.SweepChanges(s.db, s.leastRevision),
	}
}

// leastRevision is that of the oldest release that may be the base of another.
func (s *Store) leastRevision(ctx context.Context) (revision int64, found bool, err error) {
	return db.One(ctx, s.db.Reader, db.Scalar[int64],
		`SELECT revision FROM release WHERE state = $1 ORDER BY revision LIMIT 1`, releasePublished)
}

// Sweep removes what no one needs any more, whether or not it is time to, in
// short transactions.
func (s *Store) Sweep(ctx context.Context) error { return s.house.SweepAll(ctx) }

// releasesDue counts the releases that sweepReleases drops.
func (s *Store) releasesDue(ctx context.Context, most int) (int, error) {
	dead, err := s.deadReleases(ctx)
	return min(len(dead), most), err
}

// codesDue counts the codes that purgeCodes deletes.
func (s *Store) codesDue(ctx context.Context, most int) (int, error) {
	return db.CountUpTo(ctx, s.db, most, `
		promotion_purge JOIN promotion_code ON promotion_code.promotion_number = promotion_purge.promotion_number AND promotion_code.epoch = promotion_purge.epoch`)
}

// jobWorks is what this version knows to do.
func (s *Store) jobWorks() map[job.JobKind]job.JobWork {
	return map[job.JobKind]job.JobWork{job.JobPublish: s.publishJob, job.JobGenerateCodes: s.generateJob}
}
