package shop

import (
	"context"
	"time"

	"portico/store"
	"portico/store/access"
	"portico/store/authoring"
	"portico/store/db"
	"portico/store/release/segment"
)

// housekeeper is the actor of sweeps.
const housekeeper store.Actor = "system:housekeeping"

// sweepEvery is the interval of sweeps of data that expires within hours.
const sweepEvery = 10 * time.Minute

// sweeps lists all sweeps.
func (s *Store) sweeps(kept store.Retention) []db.Sweep {
	return []db.Sweep{
		s.Publisher.SweepReleases(housekeeper, sweepEvery),
		s.Codes.Sweep(housekeeper, sweepEvery),
		{Name: "idempotency keys", Every: sweepEvery, Run: s.db.SweepIdempotencyKeys, CountDue: s.db.IdempotencyKeysDue},
		{Name: "signing keys", Every: sweepEvery,
			Run: func(ctx context.Context) error { return s.Access.SweepSigningKeys(ctx, access.KeyActor) }},
		s.Access.SweepClients(housekeeper, kept.RevokedClients),
		s.Jobs.Sweep(kept.FinishedJobs),
		s.Redemptions.SweepUsages(housekeeper, kept.CodeUsages),
		s.Audit.SweepEvents(housekeeper, kept.AuditEvents),
		s.Stock.SweepLedger(kept.StockLedger),
		s.Stock.SweepChanges(),
		s.Redemptions.RepairTotals(housekeeper),
		s.Stock.RepairLedgerLengths(housekeeper),
		authoring.SweepChanges(s.db, func(ctx context.Context) (int64, bool, error) { return segment.LeastRevision(ctx, s.db.Reader) }),
	}
}

// Sweep runs all sweeps now, in short transactions.
func (s *Store) Sweep(ctx context.Context) error { return s.janitor.SweepAll(ctx) }
