// Package shop is the shop's rules and its SQL: one concrete Store over SQLite
// or PostgreSQL. It may import the words and the rooms of store, and no more.
//
// The authoring tables hold what is imported or written. Publishing copies a
// catalog into an immutable release, and shoppers read releases through a
// View. Failures come back as *Error or Errors, in the caller's terms.
package shop

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
	"portico/store/seal"
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
	Patience      Patience         // how long to wait for the database
	Sealer        *seal.Sealer     // seals the gateways' secrets; nil for a process that has no use for them
	Clock         func() time.Time // nil means time.Now
	Log           *slog.Logger     // nil discards
}

// Store is one open database. Its methods may be called from many goroutines.
type Store struct {
	config  Config
	dialect dialect
	log     *slog.Logger
	clock   func() time.Time

	pools
	reader   session // queries outside a write
	patience Patience
	troubles troubles
	readOnly atomic.Bool // as far as is known

	queue           chan *queuedWrite
	closing         chan struct{}
	closeOnce       sync.Once
	written, polled chan struct{} // closed when the writer and the poll have ended

	topics       topics
	jobs         chan struct{} // wakes the worker of this process
	asked        atomic.Uint64 // requests that jobs give way to
	works        map[JobKind]jobWork
	turn         time.Duration // how long a job has its worker while others wait
	settings     watched[*Settings]
	routing      watched[*routing]
	revoked      watched[map[string]bool] // API clients, by id
	cache        *cache
	keys         *keyRoom
	live         *liveStock // nil for none
	lane         topic      // of this process's writes to stock
	sales        *stockQueue
	stockWatch   *stockWatch
	jobWatch     *watch[*Job]
	catalogWatch catalogWatch
	redeems      *redeemQueue
	creates      *createQueue
	loads        sync.WaitGroup
}

// Open connects, migrates the schema and starts the writer. Close ends it.
func Open(ctx context.Context, config Config) (*Store, error) {
	engine, err := dialectOf(config.URL)
	if err != nil {
		return nil, err
	}
	s := &Store{
		config: config, dialect: engine, log: config.Log, clock: config.Clock,
		queue: make(chan *queuedWrite, updateGroup), jobs: make(chan struct{}, 1), closing: make(chan struct{}),
		written: make(chan struct{}), polled: make(chan struct{}),
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.turn = jobTurn
	s.patience, s.troubles = config.Patience.orDefault(), troubles{log: s.log, seen: map[error]*trouble{}}
	s.cache, s.works, s.keys = newCache(config), s.jobWorks(), newKeyRoom(config)
	s.lane = newStockLane()
	s.live = newLiveStock(config, s.lane)
	s.stockWatch, s.jobWatch = newStockWatch(), newJobWatch()
	s.sales, s.redeems, s.creates = newStockQueue(s), newRedeemQueue(), newCreateQueue(s)
	if s.pools, err = engine.open(ctx, config); err != nil {
		return nil, err
	}
	s.reader = session{on: s.read, explain: s.explainRead, patience: s.patience.Read}
	if engine.oneWriter() {
		s.reader.prepared = newStatements()
	}
	s.readOnly.Store(true) // until it is known
	if err := errors.Join(s.lookReadOnly(ctx), s.migrate(ctx), s.refresh(ctx)); err != nil {
		s.closer.Close()
		return nil, err
	}
	if engine.oneWriter() {
		go s.writer()
	} else {
		close(s.written)
	}
	go s.poll()
	return s, nil
}

// explainRead tells a database that is away, or a store that was closed, from
// a fault of ours.
func (s *Store) explainRead(err error) error {
	if isClosed(s.closing) {
		return fmt.Errorf("%w: %w", store.ErrClosed, err)
	}
	if s.home.isLeft() {
		return fmt.Errorf("%w: %w", store.ErrLeft, err)
	}
	return s.explainTrouble(err)
}

// explainTrouble tells what keeps the database from answering, and has the log
// tell it.
func (s *Store) explainTrouble(err error) error {
	kind := troubleOf(s.dialect.classify(err))
	if errors.Is(err, store.ErrSlow) {
		kind = store.ErrSlow
	}
	if kind == nil {
		return err
	}
	s.troubles.note(kind, err)
	if kind == store.ErrReadOnly {
		s.readOnly.Store(true)
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// ReadOnly tells whether the database takes no writes, as a standby does. It is
// found out at the start, by a write that is refused, and then again with each
// poll.
func (s *Store) ReadOnly() bool { return s.readOnly.Load() }

// lookReadOnly finds out whether a database that took no writes takes them now.
func (s *Store) lookReadOnly(ctx context.Context) error {
	if !s.readOnly.Load() {
		return nil
	}
	readOnly, _, err := one(ctx, s.reader, scalar[int], s.dialect.readOnly())
	if err == nil && readOnly == 0 {
		s.readOnly.Store(false)
	}
	return err
}

// Close waits for the write under way, refuses the ones that wait, and
// disconnects. It may be called more than once.
func (s *Store) Close() error {
	var err error
	s.closeOnce.Do(func() {
		close(s.closing)
		<-s.written
		<-s.polled
		s.loads.Wait()
		s.live.drop() // what is closed answers nothing
		if s.reader.prepared != nil {
			for _, stmt := range s.reader.prepared.text {
				stmt.Close()
			}
		}
		err = s.closer.Close()
	})
	return err
}

// Ping tells whether the database answers, and is still the one that was
// opened.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.home.check(); err != nil {
		return err
	}
	if _, _, err := one(ctx, s.reader, scalar[int], `SELECT 1`); err != nil {
		return errors.Join(store.ErrAway, err)
	}
	return nil
}

// Describe names the engine and the database, without credentials.
func (s *Store) Describe() string { return s.dialect.describe(s.config) }

// snapshot runs fn so that all its reads see one state of the database.
func (s *Store) snapshot(ctx context.Context, fn func(session) error) error {
	transaction, err := s.long.BeginTx(ctx, s.dialect.snapshot())
	if err != nil {
		return s.explainRead(err)
	}
	defer transaction.Rollback()
	in := session{on: transaction, explain: s.explainRead}
	if s.dialect.oneWriter() {
		in.prepared = newStatements() // which the transaction closes
	}
	if err := in.bulk(ctx, s.dialect); err != nil {
		return err
	}
	return fn(in)
}
