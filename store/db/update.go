package db

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"portico/store"
)

// Tx is one write: SQL, and nothing else. It may run again after losing to
// another transaction, so side effects wait in AfterCommit.
type Tx struct {
	Session
	db    *DB
	Now   time.Time // fixed for the whole write, truncated to milliseconds
	safe  time.Time // SafeNow's, once it was asked for
	Actor store.Actor
	after []func()

	caller context.Context        // of whoever asked for the write
	left   store.ConsistencyToken // versions that it leaves; nil for none
}

// ForUpdate ends a query whose rows of a table nobody else may change before
// this write ends. They are locked in the order of the query.
func (t *Tx) ForUpdate(table string) string { return t.db.dialect.forUpdate(table) }

// SkipLocked ends a query that locks rows of a table as ForUpdate does, but passes
// over rows that another transaction holds, and waits for none.
func (t *Tx) SkipLocked(table string) string { return t.db.dialect.skipLocked(table) }

// ExpectMany prepares the write for many rows.
func (t *Tx) ExpectMany(ctx context.Context) error { return t.bulk(ctx, t.db.dialect) }

// AfterCommit runs f once the write is durable.
func (t *Tx) AfterCommit(f func()) { t.after = append(t.after, f) }

// bump tells every server on this database that a topic changed.
func (t *Tx) bump(ctx context.Context, topic Topic) error {
	version, _, err := One(ctx, t.Session, Scalar[int64], `
		INSERT INTO change (topic, version) VALUES ($1, $2)
		ON CONFLICT (topic) DO UPDATE SET version = CASE WHEN change.version < $2 THEN $2 ELSE change.version + 1 END
		RETURNING version`, string(topic), store.Micros(t.Now))
	t.Leaves(topic, version)
	return err
}

// Leaves notes the version of a topic that this write leaves, for the
// consistency token of its caller.
func (t *Tx) Leaves(topic Topic, version int64) {
	if t.left == nil {
		t.left = store.ConsistencyToken{}
	}
	t.left[string(topic)] = version
}

const (
	updateGroup   = 256 // writes committed together at most
	updateRetries = 8
	cutRetries    = 3 // of a write whose connection was lost before it was committed
)

// Update runs fn in a transaction and returns once it is durable, or rolled
// back. The caller's cancellation is looked at before fn starts and not
// after: a statement cancelled half-way would roll back its neighbours too.
// fn must not call update.
//
// A write that is made once under an idempotency key is an UpdateOnce.
func (s *DB) Update(ctx context.Context, actor store.Actor, fn func(context.Context, *Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, end := store.Begin(ctx, store.StepWrite)
	defer func() { end(err) }()
	if isClosed(s.closing) {
		return store.ErrClosed
	}
	if err := s.continuity.check(); err != nil {
		return err
	}
	if !s.dialect.oneWriter() {
		return s.updateAlone(ctx, actor, fn)
	}
	queued := &queuedWrite{ctx: ctx, actor: actor, fn: fn, done: make(chan error, 1)}
	select {
	case s.queue <- queued:
	case <-s.closing:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-queued.done:
		return err
	case <-s.written: // the writer has ended; it may have answered just before
	}
	select {
	case err := <-queued.done:
		return err
	default:
		return store.ErrClosed
	}
}

// updateAlone gives the write a transaction of its own, and another try when
// it lost to a concurrent one.
func (s *DB) updateAlone(caller context.Context, actor store.Actor, fn func(context.Context, *Tx) error) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(caller), s.patience.Write, store.ErrSlow)
	defer cancel()
	began := time.Now()
	for attempt := 0; ; attempt++ {
		var open bool
		try := func(ctx context.Context) (err error) {
			open, err = s.tryAlone(ctx, caller, actor, fn)
			return err
		}
		err := try(ctx)
		if s.dialect.classify(err) == faultHeld && !isAside(ctx) {
			if lockModeOf(ctx).once { // which is no trouble yet
				return fmt.Errorf("%w: %w", store.ErrHeld, err)
			}
			err = s.updateHeld(ctx, caller, began, try, err)
		}
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", store.ErrSlow, err)
		}
		cut := open && s.cutOff(err) && attempt < cutRetries
		if cut {
			ctx = onLiving(ctx)
		}
		again := cut || s.lost(err) && attempt < updateRetries
		if err == nil || ctx.Err() != nil || !again {
			return s.explainWrite(err)
		}
		pause := time.Duration(1+rand.IntN(1<<min(attempt, 5))) * 5 * time.Millisecond
		select {
		case <-time.After(pause):
		case <-caller.Done():
			return caller.Err()
		}
	}
}

// tryAlone tries once; open tells whether the transaction was still open when it
// failed, so that nothing is written.
func (s *DB) tryAlone(ctx, caller context.Context, actor store.Actor, fn func(context.Context, *Tx) error) (open bool, err error) {
	pool := s.write
	if isAside(ctx) {
		pool = s.house
	}
	phase, err := s.continuity.enter()
	if err != nil {
		return true, err
	}
	transaction, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return true, err
	}
	defer transaction.Rollback()
	if err := s.continuity.left(phase); err != nil { // the connection is to another database
		return true, err
	}
	if err := caller.Err(); err != nil { // it went while the write waited for a connection
		return true, err
	}
	if !s.lockGiven && !isAside(ctx) && (lockModeOf(ctx).glance || s.lockWaits.waiting.Load() > 0) {
		if _, err := transaction.ExecContext(ctx, s.dialect.lockTimeout(min(lockGlance, s.patience.Lock))); err != nil {
			return true, err
		}
	}
	t := &Tx{Session: Session{on: transaction}, db: s, Now: s.Now(), Actor: actor, caller: caller}
	if err := Guard(func() error { return fn(ctx, t) }); err != nil {
		return true, err
	}
	if err := s.continuity.left(phase); err != nil {
		return true, err
	}
	if err := transaction.Commit(); err != nil {
		return false, err
	}
	t.committed()
	return false, nil
}

// cutOff tells whether a connection that was there was lost, as those of a
// database that was restarted, or of a server that stood still. One that does
// not come is not waited for again.
func (s *DB) cutOff(err error) bool {
	return s.dialect.classify(err) == faultAway && !s.dialect.unreachable(err)
}

func (t *Tx) committed() {
	t.db.polls.wrote(t.left)
	store.TellWrite(t.caller, t.left)
	for _, f := range t.after {
		f()
	}
}

// explainWrite turns an engine's error into ours.
func (s *DB) explainWrite(err error) error {
	if err == nil {
		return nil
	}
	switch {
	case isClosed(s.closing):
		return fmt.Errorf("%w: %w", store.ErrClosed, err)
	case errors.Is(err, store.ErrLeft):
		return err
	case s.lost(err) && s.dialect.classify(err) != faultEnded:
		return &store.Error{Code: store.Conflict, Detail: "Other writes kept changing the same rows; nothing was written, try again."}
	}
	return s.explainTrouble(err)
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// ErrRaced is a write's own word that another came between.
var ErrRaced = errors.New("another write came between")

// IsDuplicate tells whether a write met a row that is there already.
func (s *DB) IsDuplicate(err error) bool { return s.dialect.classify(err) == faultDuplicate }

// IsClosing tells whether the store was closed.
func (s *DB) IsClosing() bool { return isClosed(s.closing) }

// lost tells whether a write failed only because of another, or of the time
// that it took, so that it can be made again.
func (s *DB) lost(err error) bool {
	kind := s.dialect.classify(err)
	return errors.Is(err, ErrRaced) || kind == faultRetry || kind == faultEnded
}

// passing tells whether a read that failed may well be answered when it is made
// once more.
func (s *DB) passing(err error) bool { return s.cutOff(err) || s.lost(err) }

// Guard turns a panic of fn into an error, so that it rolls back.
func Guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}
