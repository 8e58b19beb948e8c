package db

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"portico/store"
)

// Open connects, creates or migrates the schema as config allows, and starts the writer. Call Close when done.
func Open(ctx context.Context, config Config) (*DB, error) {
	engine, err := dialectOf(config.URL)
	if err != nil {
		return nil, err
	}
	s := &DB{
		config: config, dialect: engine, Log: config.Log, clock: config.Clock, Cache: newCache(config), keys: newKeyQuota(config),
		queue: make(chan *queuedWrite, maxGroup), pauses: make(chan func()), closing: make(chan struct{}),
		writerDone: make(chan struct{}), pollDone: make(chan struct{}), timeouts: config.Timeouts.OrDefault(), echoTimeout: echoTimeout,
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
	config.identified = s.identityGuard.identify
	if s.pools, err = engine.open(ctx, config); err != nil {
		return nil, newOpenError(engine.describe(config), err)
	}
	s.slow = newSlowStatements()
	s.Reader = Session{conn: s.read, classify: s.readError, timeout: s.timeouts.Read, slow: s.slow}
	if engine.singleWriter() {
		s.Reader.prepared = newStatements()
	} else {
		s.Reader.retryable, s.Reader.background = s.isRetryableRead, s.background
	}
	s.poller = s.Reader
	s.Reader.identityGuard = s.identityGuard
	s.readOnly.Store(true) // until checked
	for _, step := range []func(context.Context) error{s.checkReadOnly, s.migrate, s.readIdentity, s.openStandby} {
		if err := step(ctx); err != nil {
			s.closer.Close()
			return nil, newOpenError(engine.describe(config), err)
		}
	}
	if engine.singleWriter() {
		s.checkpointer.log, s.checkpointer.written = Session{conn: s.checkpoints, classify: s.readError}, make(chan struct{}, 1)
		s.Go(s.checkpoint)
		go s.writer()
	} else {
		close(s.writerDone)
	}
	return s, nil
}

// readIdentity records the identity of the opened database.
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
	if s.dialect.notify() != "" {
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
		s.delays.close()
		if s.Reader.prepared != nil {
			s.Reader.prepared.close()
		}
		if s.standby != nil {
			err = s.standby.closer.Close()
		}
		err = errors.Join(err, s.closer.Close())
	})
	return err
}

// dialectOf picks the dialect by the URL's scheme.
func dialectOf(address string) (dialect, error) {
	switch {
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		return postgresDialect{}, nil
	case strings.HasPrefix(address, "file:"):
		return sqliteDialect{}, nil
	}
	return nil, errors.New("the database URL must start with file: or postgres://, for example file:portico.db")
}
