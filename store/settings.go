package store

import (
	"cmp"
	"fmt"
	"time"
)

// Settings are the store's own (spec: Limits; DESIGN 4, Pages).
type Settings struct {
	PageLength int    // rows of a page when the request does not say, 1 to 100
	Currency   string // ISO 4217; prices are shown in it unless the shopper asks otherwise
	Locale     string // BCP 47; the language of texts that name none
}

// PageLengthMax is how many rows a page can ask for.
func (Settings) PageLengthMax() int { return MaxPageLength }

// PageOffsetLimit is how many rows a page can pass over.
func (Settings) PageOffsetLimit() int { return MaxOffset }

// Patience is how long a store waits for its database, and for those it shares
// it with: another server that stands still in the middle of a write, a network
// that swallows what is sent, a pool that is used up. In each, 0 is the
// default; a bound that is to be none is made a long one.
type Patience struct {
	Connection time.Duration // for a connection: a free one of the pool, or a new one
	Read       time.Duration // for a query outside a write; publications and exports are not bound by it
	Write      time.Duration // for a write, what it is tried again included
	Lock       time.Duration // PostgreSQL only: for a row that another transaction holds
	Idle       time.Duration // PostgreSQL only: after which the database ends a write in which nothing happens
}

// The defaults. Idle is the shortest of those of PostgreSQL, so that a write
// that waits for one that stands still outlives it.
const (
	defaultConnectionPatience = 5 * time.Second
	defaultReadPatience       = 10 * time.Second
	defaultWritePatience      = 30 * time.Second
	defaultLockPatience       = 8 * time.Second
	defaultIdlePatience       = 5 * time.Second
)

// OrDefault has the default for each that is 0.
func (p Patience) OrDefault() Patience {
	return Patience{
		Connection: cmp.Or(p.Connection, defaultConnectionPatience),
		Read:       cmp.Or(p.Read, defaultReadPatience),
		Write:      cmp.Or(p.Write, defaultWritePatience),
		Lock:       cmp.Or(p.Lock, defaultLockPatience),
		Idle:       cmp.Or(p.Idle, defaultIdlePatience),
	}
}

// Check names a bound that is none.
func (p Patience) Check() error {
	for _, bound := range []struct {
		name string
		time.Duration
	}{{"database-wait", p.Connection}, {"read-time", p.Read}, {"write-time", p.Write}, {"lock-time", p.Lock}, {"idle-write-time", p.Idle}} {
		if bound.Duration != 0 && bound.Duration < time.Millisecond {
			return fmt.Errorf("--%s must be 1ms or more, or 0 for the default, not %s", bound.name, bound.Duration)
		}
	}
	return nil
}

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
