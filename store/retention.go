package store

import (
	"fmt"
	"time"
)

// Retention is how long history is kept. 0 keeps it for ever.
type Retention struct {
	StockLedger     time.Duration // stock ledger entries; older ones become one entry a product
	CodeUsages      time.Duration // uses of promotion codes; the count stays with the code
	FinishedJobs    time.Duration
	RevokedClients  time.Duration // since their revocation
	IdempotencyKeys time.Duration // since their first use
	AuditEvents     time.Duration
	Releases        int // newest releases of a catalog to keep, besides those served within the last hour
}

// The minima: tokens of a revoked client and retries of a write arrive within them.
const (
	minRevokedRetention = 7 * 24 * time.Hour
	minKeyRetention     = time.Hour
)

// DefaultRetention keeps ledgers for ten years.
func DefaultRetention() Retention {
	const day = 24 * time.Hour
	return Retention{
		StockLedger: 3650 * day, CodeUsages: 3650 * day, FinishedJobs: 30 * day, RevokedClients: 90 * day,
		IdempotencyKeys: day, AuditEvents: 90 * day, Releases: 3,
	}
}

// Check returns an error that names the flag of a retention that is too short.
func (r Retention) Check() error {
	for _, kept := range []struct {
		name        string
		time, least time.Duration
		unit        string
		of          time.Duration // one unit
	}{
		{"keep-clients", r.RevokedClients, minRevokedRetention, "days", 24 * time.Hour},
		{"keep-keys", r.IdempotencyKeys, minKeyRetention, "hours", time.Hour},
	} {
		if kept.time != 0 && kept.time < kept.least {
			return fmt.Errorf("--%s must be at least %d %s, or 0 for ever, got %d", kept.name, kept.least/kept.of, kept.unit, kept.time/kept.of)
		}
	}
	return nil
}
