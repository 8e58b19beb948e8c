package shop

import (
	"context"
	"time"

	"portico/store"
	"portico/store/access"
	"portico/store/audit"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/job"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/publish"
	"portico/store/release/segment"
	"portico/store/stock"
)

// housekeeper is the actor of sweeps.
const housekeeper store.Actor = "system:housekeeping"

// sweepEvery is the interval of sweeps of data that expires within hours.
const sweepEvery = 10 * time.Minute

// sweeps lists all sweeps.
func (s *Store) sweeps(kept store.Retention) []db.Sweep {
	return []db.Sweep{
		publish.SweepReleases(s.Publisher, housekeeper, sweepEvery),
		code.SweepCodes(s.Codes, housekeeper, sweepEvery),
		{Name: "idempotency keys", Every: sweepEvery, Run: s.db.SweepIdempotencyKeys, CountDue: s.db.IdempotencyKeysDue},
		{Name: "signing keys", Every: sweepEvery,
			Run: func(ctx context.Context) error { return access.SweepSigningKeys(ctx, s.Access, access.KeyActor) }},
		access.SweepClients(s.Access, housekeeper, kept.RevokedClients),
		job.SweepJobs(s.Jobs, kept.FinishedJobs),
		redeem.SweepUsages(s.Redemptions, housekeeper, kept.CodeUsages),
		audit.SweepEvents(s.Audit, housekeeper, kept.AuditEvents),
		stock.SweepLedger(s.Stock, kept.StockLedger),
		stock.SweepChanges(s.Stock),
		redeem.RepairTotals(s.Redemptions, housekeeper),
		stock.RepairLedgerLengths(s.Stock, housekeeper),
		authoring.SweepChanges(s.db, func(ctx context.Context) (int64, bool, error) { return segment.LeastRevision(ctx, s.db.Reader) }),
	}
}

// Sweep runs all sweeps now, in short transactions.
func (s *Store) Sweep(ctx context.Context) error { return s.janitor.SweepAll(ctx) }

// jobWorks maps job kinds to their implementations.
func (s *Store) jobWorks() map[job.JobKind]job.JobWork {
	return map[job.JobKind]job.JobWork{
		job.JobPublish: func(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
			return publish.PublishJob(ctx, s.Publisher, task, progress)
		},
		job.JobPublishDryRun: func(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
			return publish.DryRunJob(ctx, s.Publisher, task, progress)
		},
		job.JobGenerateCodes: func(ctx context.Context, task *job.Job, progress func(done, total int)) (any, error) {
			return code.GenerateJob(ctx, s.Codes, task, progress)
		},
	}
}
