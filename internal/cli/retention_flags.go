package cli

import (
	"time"

	"portico/store"
)

// RetentionFlags set how long the server keeps records.
type RetentionFlags struct {
	KeepLedger   uint16 `group:"retention" placeholder:"DAYS" default:"3650" help:"Days to keep lines of the stock ledger. Older lines are merged into one per product, and balances stay. 0 means forever."`
	KeepUsages   uint16 `group:"retention" placeholder:"DAYS" default:"3650" help:"Days to keep the user and the reference of each use of a promotion code. The number of uses stays. 0 means forever."`
	KeepJobs     uint16 `group:"retention" placeholder:"DAYS" default:"30" help:"Days to keep finished jobs. 0 means forever."`
	KeepClients  uint16 `group:"retention" placeholder:"DAYS" default:"90" help:"Days to keep revoked API clients in the list, at least 7. 0 means forever."`
	KeepKeys     uint16 `group:"retention" placeholder:"HOURS" default:"24" help:"Hours to keep idempotency keys. Must be the same on all servers. 0 means forever."`
	KeepReleases uint16 `group:"retention" placeholder:"N" default:"3" help:"Number of releases of a catalog to keep for roll-backs, besides those served within the last hour. 0 means all."`
}

// Retention returns the durations.
func (f *RetentionFlags) Retention() store.Retention {
	const day = 24 * time.Hour
	return store.Retention{
		StockLedger: time.Duration(f.KeepLedger) * day, CodeUsages: time.Duration(f.KeepUsages) * day,
		FinishedJobs: time.Duration(f.KeepJobs) * day, RevokedClients: time.Duration(f.KeepClients) * day,
		IdempotencyKeys: time.Duration(f.KeepKeys) * time.Hour, Releases: int(f.KeepReleases),
	}
}
