package db

import (
	"log/slog"
	"time"

	"portico/store"
	"portico/store/db/dialect"
	"portico/store/db/schema"
)

// Config says which database to open and how.
type Config struct {
	Dialect     dialect.Dialect  // of URL
	URL         string           // file:portico.db or postgres://user@host:5432/database
	ReadURL     string           // PostgreSQL only: a standby to read releases from; empty for none
	Schema      schema.Mode      // what Open may do to the schema; the default creates and migrates it
	Readers     int              // read connections (SQLite) or pool size (PostgreSQL); 0 means the default
	Synchronous string           // SQLite only: FULL (the default), NORMAL or OFF
	LogPages    int              // SQLite only: pages of the write-ahead log above which each commit copies it and snapshots are renewed; 0 means 16,000
	CacheBytes  uint64           // memory for data of releases; 0 means 256 MiB
	NoCache     bool             // cache nothing between operations
	MaxKeys     int              // idempotency keys of a client; 0 means 100,000
	MaxKeyBytes int64            // stored responses of a client's keys; 0 means 256 MiB
	KeyLifetime time.Duration    // lifetime of a key; 0 means a day, negative means for ever
	Timeouts    store.Timeouts   // timeouts
	Clock       func() time.Time // nil means time.Now
	Log         *slog.Logger     // nil discards

	// DatabaseClock replaces the database's clock where ages are computed (SafeNow),
	// for tests; nil means the database's own.
	DatabaseClock func() time.Time
}
