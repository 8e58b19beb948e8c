package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"time"

	"portico/store"
	"portico/store/db/dialect"
	"portico/store/db/schema"
)

// Open connects, creates or migrates the schema as config allows, and starts the writer. Call Close when done.
func Open(ctx context.Context, config Config) (*DB, error) {
	engine, err := dialect.Of(config.URL)
	if err != nil {
		return nil, err
	}
	s := &DB{
		config: config, dialect: engine, Log: config.Log, clock: config.Clock, Cache: newCache(config), keys: newKeyQuota(config),
		queue: make(chan *queuedWrite, maxGroup), pauses: make(chan func()), closing: make(chan struct{}),
		writerDone: make(chan struct{}), pollDone: make(chan struct{}), echoTimeout: echoTimeout,
	}
	if s.Log == nil {
		s.Log = slog.New(slog.DiscardHandler)
		s.config.Log = s.Log
	}
	if s.clock == nil {
		s.clock = time.Now
	}
	s.polls.requested, s.polls.hastened, s.announcements = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{}, 1)
	s.id, s.pace = store.NewID(), pollPace{idleAfter: idleAfter, idleEvery: idlePollEvery}
	s.errorLog = errorLogger{log: s.Log, byKind: map[error]*errorCount{}}
	s.identityGuard = &identityGuard{log: s.Log.Warn}
	s.connection = s.config.connection(engine)
	s.connection.Identified = s.identityGuard.identify
	if s.pools, err = engine.Open(ctx, s.connection); err != nil {
		return nil, newOpenError(s.Describe(), err)
	}
	s.slow = newSlowStatements()
	s.Reader = Session{conn: s.pools.Read, classify: s.readError, timeout: s.connection.Timeouts.Read, slow: s.slow}
	if engine.SingleWriter() {
		s.Reader.prepared = newStatements()
	} else {
		s.Reader.retryable, s.Reader.background = s.isRetryableRead, s.pools.Background
	}
	s.poller = s.Reader
	s.Reader.identityGuard = s.identityGuard
	s.readOnly.Store(true) // until checked
	migrate := func(ctx context.Context) error {
		return schema.Migrate(ctx, s.pools, engine, s.connection, config.Schema, s.ReadOnly())
	}
	for _, step := range []func(context.Context) error{s.checkReadOnly, migrate, s.readIdentity, s.openStandby} {
		if err := step(ctx); err != nil {
			s.pools.Closer.Close()
			return nil, newOpenError(s.Describe(), err)
		}
	}
	if engine.SingleWriter() {
		s.checkpointer.log, s.checkpointer.written = Session{conn: s.pools.Checkpoints, classify: s.readError}, make(chan struct{}, 1)
		s.Go(s.checkpoint)
		go s.writer()
	} else {
		s.lockWaiters = newLockWaiters(s.pools.MaxWrites)
		close(s.writerDone)
	}
	return s, nil
}

// readIdentity records the identity of the opened database, and which tables have a primary key.
func (s *DB) readIdentity(ctx context.Context) error {
	identity, _, err := s.readVersions(ctx)
	if err == nil {
		s.keyedTables, err = s.primaryKeys(ctx)
	}
	s.identityGuard.arm(identity)
	return err
}

// Follow starts the poll loop, which runs until Close, with the values of ctx. Call it once, before
// reading.
func (s *DB) Follow(ctx context.Context, hooks Hooks) error {
	s.hooks = hooks
	s.identityGuard.onSuspend = hooks.Suspended
	if err := s.refresh(ctx, false); err != nil {
		close(s.pollDone)
		return err
	}
	go s.poll(context.WithoutCancel(ctx))
	if s.dialect.Notify() != "" {
		s.Go(s.listen)
		s.Go(s.sendAnnouncements)
	}
	return nil
}

// Go runs fn in a goroutine. Close cancels its context and waits for it.
func (s *DB) Go(fn func(context.Context)) {
	s.goroutines.Go(func() {
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

// Close waits for the write in progress, rejects queued writes and disconnects. It
// may be called more than once.
func (s *DB) Close() error {
	var err error
	s.closeOnce.Do(func() {
		close(s.closing)
		<-s.writerDone
		<-s.pollDone
		s.goroutines.Wait()
		s.probe.close()
		if s.Reader.prepared != nil {
			s.Reader.prepared.close()
		}
		if s.standby != nil {
			err = s.standby.Closer.Close()
		}
		err = errors.Join(err, s.pools.Closer.Close())
	})
	return err
}

// OpenReadOnly calls fn with a read-only session on an existing SQLite database, without
// migrating it, so any table may be missing. It does not call fn if the file is
// missing or empty, and returns an error for a file of another application.
func OpenReadOnly(ctx context.Context, databaseURL string, fn func(Session) error) error {
	path, _ := dialect.SQLiteFile(databaseURL)
	engine, err := dialect.Of(databaseURL)
	if err == nil {
		err = dialect.OpenReadOnly(ctx, path, func(pool *sql.DB) error {
			if _, err := schema.Read(ctx, dialect.NewReader(pool), engine); err != nil {
				return err
			}
			return fn(Session{conn: pool})
		})
	}
	if err != nil {
		return newOpenError(path, err)
	}
	return nil
}

// connection returns what a dialect needs of it.
func (c Config) connection(engine dialect.Dialect) dialect.Config {
	return dialect.Config{
		URL: c.URL, ReadURL: c.ReadURL, Readers: c.Readers, Synchronous: c.Synchronous, LogPages: c.logPages(),
		Timeouts: c.Timeouts.OrDefault(), TryLock: firstLockTimeout, Log: c.Log,
		Check: func(ctx context.Context, read dialect.Reader) error {
			_, err := schema.Check(ctx, read, engine, c.Schema)
			return err
		},
	}
}

// logPages is LogPages or its default.
func (c Config) logPages() int { return cmp.Or(c.LogPages, maxLogPages) }
