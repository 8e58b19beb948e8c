// Package db is the only room that knows a database is there, and that there
// are two engines: how it is opened, migrated, written to in turns and read;
// lists of rows by pages, idempotency keys, and what other processes change.
// It knows no noun. It may import the words of store.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
)

// Config says which database to open, and how.
type Config struct {
	URL          string           // file:portico.db or postgres://user@host:5432/database
	Readers      int              // read connections (SQLite) or pool size (PostgreSQL); 0 means the engine's default
	Synchronous  string           // SQLite only: FULL (the default), NORMAL or OFF
	CacheBytes   uint64           // memory for what is kept of immutable rows; 0 means 256 MiB
	NoCache      bool             // keep nothing from one operation to the next
	KeptKeys     int              // idempotency keys of a client; 0 means 100,000
	KeptKeyBytes int64            // of what they answer; 0 means 256 MiB
	KeptKeyTime  time.Duration    // how long a key stands for its first use; 0 means a day, less than that for ever
	Patience     store.Patience   // how long to wait for the database
	Clock        func() time.Time // nil means time.Now
	Log          *slog.Logger     // nil discards

	identified func(identity string) // of the database that each new connection reaches; nil for none

	// DatabaseClock is what the database's own clock is taken to show where ages
	// are told (SafeNow), for tests in which months pass; nil asks the database.
	DatabaseClock func() time.Time
}

// DB is one open database. Its methods may be called from many goroutines.
type DB struct {
	opened  Config
	hooks   Hooks
	dialect dialect
	Log     *slog.Logger
	clock   func() time.Time

	pools
	Reader   Session // queries outside a write
	poller   Session // those that look whether the database is still the same
	patience store.Patience
	troubles troubles

	continuity *continuity
	keyed      []string // tables that had a primary key when the database was opened

	readOnly atomic.Bool // as far as is known
	Cache    *Cache      // nil for none

	queue           chan *queuedWrite
	closing         chan struct{}
	closeOnce       sync.Once
	written, polled chan struct{} // closed when the writer and the poll have ended
	loads           sync.WaitGroup

	topics   topics
	polls    polls
	settings Watched[*store.Settings]
	asked    atomic.Uint64 // requests that jobs give way to
	keys     *keyRoom
}

// Hooks are called of what a look for changes finds. Each may be nil.
type Hooks struct {
	Polled  func(ctx context.Context, versions map[Topic]int64, asked time.Time) error // the versions of all topics, as they were asked for at a time
	Changed func(name Topic)                                                           // by this process or another
	Left    func()                                                                     // the database is no longer where it was; nothing may be shown of it

	Doubted  func()                                                          // the database may be another one; nothing kept of it may be shown
	Complete func(ctx context.Context, in Session) (found string, err error) // describes what a database in doubt holds; the error says what it lacks
	Replaced func()                                                          // the database in doubt is complete, and is read from now on
}

// Open connects, migrates the schema and starts the writer. Close ends it.
func Open(ctx context.Context, config Config) (*DB, error) {
	engine, err := dialectOf(config.URL)
	if err != nil {
		return nil, err
	}
	s := &DB{
		opened: config, dialect: engine, Log: config.Log, clock: config.Clock, Cache: newCache(config), keys: newKeyRoom(config),
		queue: make(chan *queuedWrite, updateGroup), closing: make(chan struct{}),
		written: make(chan struct{}), polled: make(chan struct{}), patience: config.Patience.OrDefault(),
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
		s.opened.Log = s.Log
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.polls.asked = make(chan struct{}, 1)
	s.troubles = troubles{log: s.Log, seen: map[error]*trouble{}}
	s.continuity = &continuity{log: s.Log.Warn}
	config.identified = s.continuity.identify
	if s.pools, err = engine.open(ctx, config); err != nil {
		return nil, newOpenError(engine.describe(config), err)
	}
	s.Reader = Session{on: s.read, explain: s.explainRead, patience: s.patience.Read}
	if engine.oneWriter() {
		s.Reader.prepared = newStatements()
	} else {
		s.Reader.again, s.Reader.aside = s.passing, s.house
	}
	s.poller = s.Reader
	s.Reader.continuity = s.continuity
	s.readOnly.Store(true) // until it is known
	if err := errors.Join(s.lookReadOnly(ctx), s.migrate(ctx), s.know(ctx)); err != nil {
		s.closer.Close()
		return nil, newOpenError(engine.describe(config), err)
	}
	if engine.oneWriter() {
		go s.writer()
	} else {
		close(s.written)
	}
	return s, nil
}

// know takes note of which database was opened.
func (s *DB) know(ctx context.Context) error {
	identity, _, err := s.readVersions(ctx)
	if err == nil {
		s.keyed, err = s.primaryKeys(ctx)
	}
	s.continuity.arm(identity)
	return err
}

// Follow looks for changes by others, now and again until the database is
// closed. It is called once, before anything is read.
func (s *DB) Follow(ctx context.Context, hooks Hooks) error {
	s.hooks = hooks
	s.continuity.doubted = hooks.Doubted
	if err := s.refresh(ctx); err != nil {
		close(s.polled)
		return err
	}
	go s.poll()
	return nil
}

// Beside runs fn beside all else. Its context ends when the database is closed,
// which waits for it.
func (s *DB) Beside(fn func(context.Context)) {
	s.loads.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-s.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		fn(ctx)
	})
}

// Close waits for the write under way, refuses the ones that wait, and
// disconnects. It may be called more than once.
func (s *DB) Close() error {
	var err error
	s.closeOnce.Do(func() {
		close(s.closing)
		<-s.written
		<-s.polled
		s.loads.Wait()
		if s.Reader.prepared != nil {
			s.Reader.prepared.close()
		}
		err = s.closer.Close()
	})
	return err
}

// Analyze has the planner know what some tables hold now.
func (s *DB) Analyze(ctx context.Context, tables []string) error {
	for _, table := range tables { // one a statement, which every engine takes
		statement := s.dialect.analyze(table)
		if statement == "" {
			return nil
		}
		if _, err := s.upkeep.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Plan is what the engine means to do for a query, a step a line.
func (s *DB) Plan(ctx context.Context, query string, args ...any) ([]string, error) {
	return Collect(ctx, Session{on: s.read}, func(rows *sql.Rows) (string, error) {
		columns, err := rows.Columns()
		if err != nil {
			return "", err
		}
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		err = rows.Scan(values...)
		return fmt.Sprint(*values[len(values)-1].(*any)), err // the last is the text, on both engines
	}, s.dialect.explain(query), args...)
}

// explainRead tells a database that is away, or a store that was closed, from
// a fault of ours.
func (s *DB) explainRead(err error) error {
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
func (s *DB) explainTrouble(err error) error {
	failure := s.dialect.classify(err)
	if failure == faultMissing {
		s.continuity.doubt("a table is missing: " + err.Error())
	}
	kind := troubleOf(failure)
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
func (s *DB) ReadOnly() bool { return s.readOnly.Load() }

// lookReadOnly finds out whether a database that took no writes takes them now.
func (s *DB) lookReadOnly(ctx context.Context) error {
	if !s.readOnly.Load() {
		return nil
	}
	readOnly, _, err := One(ctx, s.Reader, Scalar[int], s.dialect.readOnly())
	if err == nil && readOnly == 0 {
		s.readOnly.Store(false)
	}
	return err
}

// Ping tells whether the database answers, and is still the one that was
// opened.
func (s *DB) Ping(ctx context.Context) error {
	if err := errors.Join(s.home.check(), s.continuity.check()); err != nil {
		return err
	}
	if _, _, err := One(ctx, s.Reader, Scalar[int], `SELECT 1`); err != nil {
		return errors.Join(store.ErrAway, err)
	}
	return nil
}

// Describe names the engine and the database, without credentials.
func (s *DB) Describe() string { return s.dialect.describe(s.opened) }

// Snapshot runs fn so that all its reads see one state of the database.
func (s *DB) Snapshot(ctx context.Context, fn func(Session) error) error {
	phase, err := s.continuity.enter()
	if err != nil {
		return err
	}
	transaction, err := s.long.BeginTx(onLiving(ctx), s.dialect.snapshot())
	if err != nil {
		return s.explainRead(err)
	}
	defer transaction.Rollback()
	if err := s.continuity.left(phase); err != nil {
		return err
	}
	in := Session{on: transaction, explain: s.explainRead}
	if s.dialect.oneWriter() {
		in.prepared = newStatements() // which the transaction closes
	}
	if err := in.bulk(ctx, s.dialect); err != nil {
		return err
	}
	if err := fn(in); err != nil {
		return err
	}
	return s.continuity.left(phase)
}
