package cli

import (
	"time"

	"portico/store"
)

// Keeping are the flags that say for how long what happened is kept.
type Keeping struct {
	KeepLedger   uint16 `group:"Housekeeping" placeholder:"DAYS" default:"3650" help:"For how many days the stock ledger has each line; what is older is carried over as one line a product, and balances stay what they are. 0 is for ever. Default: ${default}."`
	KeepUsages   uint16 `group:"Housekeeping" placeholder:"DAYS" default:"3650" help:"For how many days it is known who used a promotion code, and by which reference; how often it was used stays. 0 is for ever. Default: ${default}."`
	KeepJobs     uint16 `group:"Housekeeping" placeholder:"DAYS" default:"30" help:"For how many days a job that has ended can be asked for. 0 is for ever. Default: ${default}."`
	KeepClients  uint16 `group:"Housekeeping" placeholder:"DAYS" default:"90" help:"For how many days a revoked API client is listed, at least 7. 0 is for ever. Default: ${default}."`
	KeepKeys     uint16 `group:"Housekeeping" placeholder:"HOURS" default:"24" help:"For how many hours an idempotency key stands for its first use, the same on all servers. 0 is for ever. Default: ${default}."`
	KeepReleases uint16 `group:"Housekeeping" placeholder:"N" default:"3" help:"How many of the newest releases of a catalog are kept to roll back to, beside those served within the last hour. 0 is all. Default: ${default}."`
}

// Retention is what they say.
func (k *Keeping) Retention() store.Retention {
	const day = 24 * time.Hour
	return store.Retention{
		StockLedger: time.Duration(k.KeepLedger) * day, CodeUsages: time.Duration(k.KeepUsages) * day,
		FinishedJobs: time.Duration(k.KeepJobs) * day, RevokedClients: time.Duration(k.KeepClients) * day,
		IdempotencyKeys: time.Duration(k.KeepKeys) * time.Hour, Releases: int(k.KeepReleases),
	}
}
