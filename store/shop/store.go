// Package shop opens a database, SQLite or PostgreSQL, and combines the services of all
// packages below store into one Store. It adds what belongs to no resource: sweeps, metrics
// and sealing keys. It may import store and the packages below it.
//
// The authoring tables hold what is imported or written. Publishing copies a catalog into an
// immutable release, and shoppers read releases through a View. Errors for clients are
// *store.Error or store.Errors.
package shop

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"portico/store"
	"portico/store/access"
	"portico/store/audit"
	"portico/store/cart"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/db/dialect"
	"portico/store/db/drivers"
	"portico/store/db/schema"
	"portico/store/exchange"
	"portico/store/gateway"
	"portico/store/job"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/publish"
	"portico/store/purge"
	"portico/store/release"
	"portico/store/seal"
	"portico/store/settings"
	"portico/store/stock"
)

// Config says which database to open and how.
type Config struct {
	URL           string           // file:portico.db or postgres://user@host:5432/database
	Schema        SchemaMode       // what Open may do to the schema; the default creates and migrates it
	ReadURL       string           // PostgreSQL only: a standby to read releases from; empty for none
	Readers       int              // read connections (SQLite) or pool size (PostgreSQL); 0 means the default
	Synchronous   string           // SQLite only: FULL (the default, survives power loss), NORMAL or OFF
	LogPages      int              // SQLite only: see db.Config.LogPages, for tests
	CacheBytes    uint64           // memory for products and lists of releases; 0 means 256 MiB
	WordBytes     int              // memory for the words of products while publishing, and as much for other indexes; 0 means 64 MiB
	StockBytes    uint64           // memory for the stock cache; 0 disables it
	NoCache       bool             // cache nothing between operations, for tests that count statements
	WholeReleases bool             // publish every release as a base, never as a delta, for tests
	LayerFactor   int              // for tests: see publish.Config.Factor; 0 means the default
	MaxKeys       int              // idempotency keys of a client; 0 means 100,000
	MaxKeyBytes   int64            // stored responses of a client's keys; 0 means 256 MiB
	JobQuota      job.Quota        // limits of queued jobs
	Retention     *store.Retention // how long history is kept; nil means the default
	Timeouts      store.Timeouts   // timeouts of database access
	Sealer        *seal.Sealer     // seals the gateways' secrets; nil if this process does not need them
	Clock         func() time.Time // nil means time.Now
	DatabaseClock func() time.Time // for tests: replaces the database's clock where ages are computed
	Log           *slog.Logger     // nil discards
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	db *db.DB

	Access      *access.Service
	Audit       *audit.Service
	Carts       *cart.Service
	Catalogs    *catalog.Service
	Exchange    *exchange.Service
	Gateways    *gateway.Service
	Jobs        *job.Service
	Promotions  *promotion.Service
	Codes       *code.Service
	Redemptions *redeem.Service
	Publisher   *publish.Service
	Purges      *purge.Service
	Releases    *release.Service
	Settings    *settings.Service
	Stock       *stock.Service

	janitor      *job.Janitor
	catalogWatch catalogWatch
}

// Open connects, creates or migrates the schema as config allows, and starts the writer. Call Close when done.
func Open(ctx context.Context, config Config) (*Store, error) {
	kept := store.DefaultRetention()
	if config.Retention != nil {
		kept = *config.Retention
	}
	engine, err := drivers.Of(config.URL)
	if err != nil {
		return nil, err
	}
	d, err := db.Open(ctx, db.Config{Dialect: engine, URL: config.URL, Schema: config.Schema, ReadURL: config.ReadURL, Readers: config.Readers, Synchronous: config.Synchronous, LogPages: config.LogPages, CacheBytes: config.CacheBytes,
		NoCache: config.NoCache, MaxKeys: config.MaxKeys, MaxKeyBytes: config.MaxKeyBytes, KeyLifetime: cmp.Or(kept.IdempotencyKeys, -1), Timeouts: config.Timeouts, Clock: config.Clock, DatabaseClock: config.DatabaseClock, Log: config.Log})
	if err != nil {
		return nil, err
	}
	stockBytes := config.StockBytes
	if config.NoCache {
		stockBytes = 0
	}
	stocks := stock.NewService(d, stockBytes)
	s := &Store{
		db: d, Access: access.NewService(d), Audit: audit.NewService(d), Catalogs: catalog.NewService(d), Gateways: gateway.NewService(d, config.Sealer),
		Releases: release.NewService(d, stocks), Settings: settings.NewService(d), Stock: stocks,
	}
	s.Jobs = job.NewService(d, config.JobQuota, func(ctx context.Context) { s.janitor.Run(ctx) })
	s.Promotions = promotion.NewService(d)
	s.Codes = code.NewService(d, s.Jobs)
	s.Redemptions = redeem.NewService(d)
	s.Carts = cart.NewService(d, s.Redemptions)
	s.Publisher = publish.NewService(d, s.Jobs, s.Releases, publish.Config{
		WordBytes: config.WordBytes, Whole: config.WholeReleases, Factor: config.LayerFactor, Kept: kept.Releases,
		Left: func() { s.janitor.Request(publish.SweepOfReleases) },
	})
	s.Releases.BeforeServe = s.Publisher.RecordPathsBefore
	s.Purges = purge.NewService(d)
	s.Exchange = exchange.NewService(d, s.Stock)
	s.Jobs.SetWork(job.Publish, s.Publisher.RunPublication)
	s.Jobs.SetWork(job.PublishDryRun, s.Publisher.RunDryRun)
	s.Jobs.SetWork(job.GenerateCodes, s.Codes.RunGeneration)
	s.janitor = job.NewJanitor(d, s.sweeps(kept))
	// What to do when other processes write, or the database is suspended, restored or its file replaced.
	if err := s.db.Follow(ctx, db.Hooks{
		WorkSQL: job.WaitingSQL(d),
		Watched: func() bool {
			return s.catalogWatch.watched() || s.Stock.Watched() || s.Jobs.Watched()
		},
		Polled: func(ctx context.Context, found db.Poll) error {
			return errors.Join(s.Stock.Follow(ctx, found), s.Jobs.Follow(ctx, found.Work))
		},
		Changed: func(name db.Topic) {
			if name == db.TopicCatalog || name == db.TopicSettings {
				s.catalogWatch.notify()
			}
		},
		FileReplaced:  func() { s.Stock.DropCache() },
		Suspended:     func() { s.Stock.SuspectCache() },
		CheckComplete: checkRestored,
		Replaced:      func() { s.Stock.ResetAfterRestore() },
	}); err != nil {
		s.db.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for the write in progress, rejects queued writes and disconnects. It may be
// called more than once.
func (s *Store) Close() error {
	err := s.db.Close()
	s.Stock.DropCache() // the cache must not answer after Close
	return err
}

// Ping reports whether the database responds and is still the one that was opened.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Await returns when this process has loaded the writes that a token names, or UNAVAILABLE
// after 2 seconds.
func (s *Store) Await(ctx context.Context, token store.ConsistencyToken) error {
	return s.db.Await(ctx, token)
}

// ReadOnly reports whether the database rejects writes, as a standby does.
func (s *Store) ReadOnly() bool { return s.db.ReadOnly() }

// WriteTrouble returns why the database did not take a write within the last minute: store.ErrDiskFull,
// store.ErrReadOnly or store.ErrUnavailable; nil if it took all. It does not query the database.
func (s *Store) WriteTrouble() error { return s.db.WriteTrouble() }

// FailedWrites returns the number of writes that the database did not take since it was opened, by cause: full (its
// disk), read_only or connection.
func (s *Store) FailedWrites() map[string]int64 { return s.db.FailedWrites() }

// SlowStatements returns the number of statements that took 100 ms or longer since the database was opened, by
// operation and table.
func (s *Store) SlowStatements() map[string]int64 { return s.db.SlowStatements() }

// TryWrite makes a write that changes nothing, and returns why the database does not take it.
func (s *Store) TryWrite(ctx context.Context) error { return s.db.TryWrite(ctx) }

// Describe names the database without credentials, for example "SQLite portico.db".
func (s *Store) Describe() string { return s.db.Describe() }

// Backup writes a consistent copy of a SQLite database, of any version, to a new file while servers read and
// write. Secrets stay sealed. After an error the caller removes the file. It returns UNPROCESSABLE on
// PostgreSQL.
func Backup(ctx context.Context, databaseURL, path string) error {
	engine, err := drivers.Of(databaseURL)
	if err != nil {
		return err
	}
	return db.Backup(ctx, engine, databaseURL, path)
}

// CopyTo copies everything into the new, empty database of other, which may be of the other kind,
// and returns the number of rows of each table. It copies one snapshot: stop the servers first, or what they write meanwhile is missing. Open the other
// database anew to read it.
func (s *Store) CopyTo(ctx context.Context, other *Store, actor store.Actor) (map[string]int64, error) {
	return s.db.CopyTo(ctx, other.db, actor)
}

// CountRequest counts a request, for which throttled jobs pause. Call it before each, if
// IdleWithoutRequests was called: the first request after a while waits for a poll, at most 250 ms.
func (s *Store) CountRequest(ctx context.Context) { s.db.CountRequest(ctx) }

// IdleWithoutRequests lets polls of the database slow down while no request is counted.
func (s *Store) IdleWithoutRequests() { s.db.IdleWithoutRequests() }

// CacheStats returns hits and misses of the cache of releases since the store was opened, and
// the bytes in use.
func (s *Store) CacheStats() (hits, misses, bytes uint64) { return s.db.CacheStats() }

// SchemaMode is what Open may do to the schema of a database. Whatever the mode, Open changes nothing in a database
// with tables of another application.
type SchemaMode = schema.Mode

// The modes.
const (
	CreateSchema  = schema.CreateMode  // create the schema in an empty database, migrate an older one
	MigrateSchema = schema.MigrateMode // migrate an older one; a database without a schema is an error
	KeepSchema    = schema.KeepMode    // change nothing; an older schema is an error too
)

// ErrNoShop means that there is no database, or an empty one.
var ErrNoShop = schema.ErrNoShop

// OpenError says which database could not be opened.
type OpenError = db.OpenError

// Explain returns a sentence for the operator that says what is wrong with the database and
// how to fix it; ok is false for any other error.
func Explain(err error) (sentence string, ok bool) { return db.Explain(err, drivers.Explain) }

// SQLiteFile returns the path of a file: URL; embedded is false for another URL.
func SQLiteFile(address string) (path string, embedded bool) { return dialect.SQLiteFile(address) }
