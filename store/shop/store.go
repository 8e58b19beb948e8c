// Package shop is the facade of the rooms: it opens a database, SQLite or
// PostgreSQL, and one concrete Store embeds the service of each room. What is of
// no noun is here: housekeeping, measures, and the keys that secrets are sealed
// with. It may import the words and the rooms of store, and no more.
//
// The authoring tables hold what is imported or written. Publishing copies a
// catalog into an immutable release, and shoppers read releases through a
// View. Failures come back as *store.Error or store.Errors, in the caller's terms.
package shop

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"portico/store"
	"portico/store/access"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/exchange"
	"portico/store/gateway"
	"portico/store/job"
	"portico/store/promotion"
	"portico/store/promotion/code"
	"portico/store/promotion/redeem"
	"portico/store/publish"
	"portico/store/release"
	"portico/store/seal"
	"portico/store/settings"
	"portico/store/stock"
)

// Config says which database to open, and how.
type Config struct {
	URL           string           // file:portico.db or postgres://user@host:5432/database
	Readers       int              // read connections (SQLite) or pool size (PostgreSQL); 0 means the engine's default
	Synchronous   string           // SQLite only: FULL (the default: an acknowledged write survives power loss), NORMAL or OFF
	CacheBytes    uint64           // memory for released products and lists; 0 means 256 MiB
	WordBytes     int              // memory for the words of products while publishing, and as much for what else they are found by; 0 means 64 MiB
	StockBytes    uint64           // memory for all stock, so that reading it costs no statement; 0 for none
	NoCache       bool             // keep nothing from one operation to the next, for tests that count statements
	WholeReleases bool             // publish every release whole, none as a delta, for tests that compare
	KeptKeys      int              // idempotency keys of a client; 0 means 100,000
	KeptKeyBytes  int64            // of what they answer; 0 means 256 MiB
	JobRoom       job.Room         // what may wait of jobs
	Retention     *store.Retention // for how long what happened is kept; nil means the default
	Patience      store.Timeouts   // how long to wait for the database
	Sealer        *seal.Sealer     // seals the gateways' secrets; nil for a process that has no use for them
	Clock         func() time.Time // nil means time.Now
	DatabaseClock func() time.Time // for tests: the database's own, where ages are told; nil asks it
	Log           *slog.Logger     // nil discards
}

// Store is one open database. Its methods may be called from many goroutines.
type Store struct {
	db *db.DB

	*access.AccessService
	*catalog.CatalogService
	*exchange.ExchangeService
	*gateway.GatewayService
	*job.JobService
	*promotion.PromotionService
	*code.CodeService
	*redeem.RedeemService
	*publish.PublishService
	*release.ReleaseService
	*settings.SettingsService
	*stock.StockService

	house        *job.House
	catalogWatch catalogWatch
}

// Open connects, migrates the schema and starts the writer. Close ends it.
func Open(ctx context.Context, config Config) (*Store, error) {
	kept := store.DefaultRetention()
	if config.Retention != nil {
		kept = *config.Retention
	}
	d, err := db.Open(ctx, db.Config{URL: config.URL, Readers: config.Readers, Synchronous: config.Synchronous, CacheBytes: config.CacheBytes,
		NoCache: config.NoCache, MaxKeys: config.KeptKeys, MaxKeyBytes: config.KeptKeyBytes, KeyLifetime: cmp.Or(kept.IdempotencyKeys, -1), Timeouts: config.Patience, Clock: config.Clock, DatabaseClock: config.DatabaseClock, Log: config.Log})
	if err != nil {
		return nil, err
	}
	stockBytes := config.StockBytes
	if config.NoCache {
		stockBytes = 0
	}
	s := &Store{
		db: d, AccessService: access.NewAccessService(d), CatalogService: catalog.NewCatalogService(d), GatewayService: gateway.NewGatewayService(d, config.Sealer),
		ReleaseService: release.NewReleaseService(d), SettingsService: settings.NewSettingsService(d), StockService: stock.NewStockService(d, stockBytes),
	}
	s.JobService = job.NewJobService(d, s.jobWorks(), config.JobRoom, func(ctx context.Context) { s.house.Keep(ctx) })
	s.PromotionService = promotion.NewPromotionService(d)
	s.CodeService = code.NewCodeService(d, s.JobService)
	s.RedeemService = redeem.NewRedeemService(d)
	s.PublishService = publish.NewPublishService(d, s.JobService, s.ReleaseService, publish.PublishConfig{
		WordBytes: config.WordBytes, Whole: config.WholeReleases, Kept: kept.Releases,
		Left: func() { s.house.Soon(publish.SweepOfReleases) },
	})
	s.ExchangeService = exchange.NewExchangeService(d, s.StockService)
	s.house = job.NewHouse(d, s.sweeps(kept))
	if err := s.db.Follow(ctx, db.Hooks{
		Polled: func(ctx context.Context, versions map[db.Topic]int64, asked time.Time) error {
			return errors.Join(stock.Follow(ctx, s.StockService, versions, asked), job.Follow(ctx, s.JobService))
		},
		Changed: func(name db.Topic) {
			if name == db.TopicCatalog {
				s.catalogWatch.wake()
			}
		},
		FileReplaced:  func() { stock.Drop(s.StockService) },
		Suspended:     func() { stock.Doubt(s.StockService) },
		CheckComplete: complete,
		Replaced:      func() { stock.Forget(s.StockService) },
	}); err != nil {
		s.db.Close()
		return nil, err
	}
	return s, nil
}

// Close waits for the write under way, refuses the ones that wait, and
// disconnects. It may be called more than once.
func (s *Store) Close() error {
	err := s.db.Close()
	stock.Drop(s.StockService) // what is closed answers nothing
	return err
}

// Ping tells whether the database answers, and is still the one that was
// opened.
func (s *Store) Ping(ctx context.Context) error { return s.db.Ping(ctx) }

// Await returns once this process knows what the writes left that a consistency
// token names; UNAVAILABLE where that takes longer than 2 s, or cannot be.
func (s *Store) Await(ctx context.Context, token store.ConsistencyToken) error {
	return s.db.Await(ctx, token)
}

// ReadOnly tells whether the database is read-only, as a standby does. It is
// found out at the start, by a write that is refused, and then again with each
// poll.
func (s *Store) ReadOnly() bool { return s.db.ReadOnly() }

// Describe names the engine and the database, without credentials.
func (s *Store) Describe() string { return s.db.Describe() }

// Backup writes a copy of the whole database to a new file, as it is at one
// moment, while others go on. The secrets in it stay sealed. Nothing is left
// where it fails. UNPROCESSABLE on PostgreSQL, which has its own tools.
func (s *Store) Backup(ctx context.Context, path string) error { return s.db.Backup(ctx, path) }

// Asked tells that a request came, which jobs give way to.
func (s *Store) Asked() { s.db.CountRequest() }

// CacheStats tells how often parts of releases were found in memory and how
// often they had to be read, since the store was opened, and how many bytes
// those take that are kept.
func (s *Store) CacheStats() (found, made, bytes uint64) { return s.db.CacheStats() }

// OpenError says which database could not be opened.
type OpenError = db.OpenError

// Explain says in a sentence what is wrong with a database and what to do about
// it, for whoever runs it; ok is false for any other error.
func Explain(err error) (sentence string, ok bool) { return db.Explain(err) }

// SQLiteFile is the file of a file: URL; embedded is false for another URL.
func SQLiteFile(address string) (path string, embedded bool) { return db.SQLiteFile(address) }
