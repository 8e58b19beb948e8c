package store

import (
	"fmt"
	"time"
)

// Retention is for how long what happened is kept. In each, 0 is for ever.
type Retention struct {
	StockLedger     time.Duration // lines of the stock ledger; what is older is carried over as one line a product
	CodeUsages      time.Duration // uses of promotion codes; how often a code was used stays with the code
	FinishedJobs    time.Duration
	RevokedClients  time.Duration // since they were revoked
	IdempotencyKeys time.Duration // how long a key stands for its first use
	Releases        int           // the newest of a catalog, to roll back to, beside those that were served within the last hour
}

// The least that can be kept. Tokens of a revoked client, and retries under an
// idempotency key, come within it.
const (
	leastRevokedKept = 7 * 24 * time.Hour
	leastKeyKept     = time.Hour
)

// DefaultRetention keeps books for ten years.
func DefaultRetention() Retention {
	const day = 24 * time.Hour
	return Retention{
		StockLedger: 3650 * day, CodeUsages: 3650 * day, FinishedJobs: 30 * day, RevokedClients: 90 * day,
		IdempotencyKeys: day, Releases: 3,
	}
}

// Check names a time that is too short.
func (r Retention) Check() error {
	for _, kept := range []struct {
		name        string
		time, least time.Duration
		unit        string
		of          time.Duration
	}{
		{"keep-clients", r.RevokedClients, leastRevokedKept, "days", 24 * time.Hour},
		{"keep-keys", r.IdempotencyKeys, leastKeyKept, "hours", time.Hour},
	} {
		if kept.time != 0 && kept.time < kept.least {
			return fmt.Errorf("--%s must be %d %s or more, or 0 for ever, not %d", kept.name, kept.least/kept.of, kept.unit, kept.time/kept.of)
		}
	}
	return nil
}
