package cli

import (
	"time"

	"portico/store"
	"portico/store/job"
)

// RetentionFlags set how long the server keeps records.
type RetentionFlags struct {
	KeepLedger   uint16 `group:"retention" placeholder:"DAYS" default:"3650" help:"Days to keep lines of the stock ledger. Older lines are merged into one per product, and balances stay. 0 means forever."`
	KeepUsages   uint16 `group:"retention" placeholder:"DAYS" default:"3650" help:"Days to keep the user and the reference of each use of a promotion code. The number of uses stays. 0 means forever."`
	KeepJobs     uint16 `group:"retention" placeholder:"DAYS" default:"30" help:"Days to keep finished jobs. 0 means forever."`
	KeepClients  uint16 `group:"retention" placeholder:"DAYS" default:"90" help:"Days to keep revoked API clients in the list, at least 7. 0 means forever."`
	KeepKeys     uint16 `group:"retention" placeholder:"HOURS" default:"24" help:"Hours to keep idempotency keys. Must be the same on all servers. 0 means forever."`
	KeepAudit    uint16 `group:"retention" placeholder:"DAYS" default:"90" help:"Days to keep events of the audit log, which are the feed of changes too. 0 means forever."`
	KeepReleases uint16 `group:"retention" placeholder:"N" default:"3" help:"Number of releases of a catalog to keep for roll-backs, besides those served within the last hour. 0 means all."`
}

// Retention returns the durations.
func (f *RetentionFlags) Retention() store.Retention {
	const day = 24 * time.Hour
	return store.Retention{
		StockLedger: time.Duration(f.KeepLedger) * day, CodeUsages: time.Duration(f.KeepUsages) * day,
		FinishedJobs: time.Duration(f.KeepJobs) * day, RevokedClients: time.Duration(f.KeepClients) * day,
		IdempotencyKeys: time.Duration(f.KeepKeys) * time.Hour, AuditEvents: time.Duration(f.KeepAudit) * day, Releases: int(f.KeepReleases),
	}
}

// QueueFlags limit the jobs and codes in the queue.
type QueueFlags struct {
	JobsClient   int `group:"client-limits" placeholder:"N" default:"100" help:"Maximum number of queued and running jobs of a client. 0 means the default."`
	CodesClient  int `group:"client-limits" placeholder:"N" default:"10000000" help:"Maximum number of promotion codes that a client has requested and that are not generated yet. 0 means the default."`
	CodesWaiting int `group:"client-limits" placeholder:"N" default:"50000000" help:"Maximum number of promotion codes that all clients have requested and that are not generated yet. 0 means the default."`
}

func (f *QueueFlags) check() error {
	if min(f.JobsClient, f.CodesClient, f.CodesWaiting) < 0 {
		return usagef("--jobs-client, --codes-client and --codes-waiting must be 1 or more, or 0 for the default")
	}
	return nil
}

// JobQuota returns the limits.
func (f *QueueFlags) JobQuota() job.Quota {
	return job.Quota{ClientJobs: f.JobsClient, ClientCodes: f.CodesClient, Codes: f.CodesWaiting}
}
