package db

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"portico/store"
	"portico/store/db/dialect"
)

// Update runs fn in a transaction and returns when it is durable or rolled back. It
// checks the caller's cancellation only before fn starts, because a cancelled
// statement would roll back the other writes of its group. fn must not call Update.
// Use UpdateOnce for a write that takes an idempotency key.
func (s *DB) Update(ctx context.Context, actor store.Actor, fn func(context.Context, *Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, end := store.StartStep(ctx, store.StepWrite)
	defer func() { end(err) }()
	if s.IsClosing() {
		return store.ErrClosed
	}
	if err := s.identityGuard.check(); err != nil {
		return err
	}
	if !s.dialect.SingleWriter() {
		return s.runTx(ctx, actor, fn)
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
	case <-s.writerDone: // the writer may have answered just before it ended
	}
	select {
	case err := <-queued.done:
		return err
	default:
		return store.ErrClosed
	}
}

// runTx runs the write in a transaction of its own. It retries, within the timeout of writes: after a lock timeout by
// retryLocked; after a connection was lost before the commit; and after a conflict. The caller's cancellation ends a pause
// between attempts, not an attempt.
func (s *DB) runTx(caller context.Context, actor store.Actor, fn func(context.Context, *Tx) error) error {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(caller), s.connection.Timeouts.Write, store.ErrTimeout)
	defer cancel()
	began := time.Now()
	for attempt := 0; ; attempt++ {
		var open bool
		try := func(ctx context.Context) (err error) {
			open, err = s.runTxOnce(ctx, caller, actor, fn)
			return err
		}
		err := try(ctx)
		if s.dialect.Classify(err) == dialect.LockTimeout && !usesBackgroundPool(ctx) {
			if lockModeOf(ctx).once {
				return fmt.Errorf("%w: %w", store.ErrLockTimeout, err)
			}
			err = s.retryLocked(ctx, caller, began, try, err)
		}
		if err != nil && ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", store.ErrTimeout, err)
		}
		cut := open && s.lostConnection(err) && attempt < lostConnRetries
		if cut {
			ctx = dialect.WithPing(ctx)
		}
		again := cut || s.isRetryable(err) && attempt < updateRetries
		if err == nil || ctx.Err() != nil || !again {
			return s.writeError(err)
		}
		pause := time.Duration(1+rand.IntN(1<<min(attempt, 5))) * 5 * time.Millisecond
		select {
		case <-time.After(pause):
		case <-caller.Done():
			return caller.Err()
		}
	}
}

// runTxOnce runs the transaction once. open reports whether it failed before the commit,
// so that nothing was written.
func (s *DB) runTxOnce(ctx, caller context.Context, actor store.Actor, fn func(context.Context, *Tx) error) (open bool, err error) {
	pool := s.pools.Write
	if usesBackgroundPool(ctx) {
		pool = s.pools.Background
	}
	phase, err := s.identityGuard.begin()
	if err != nil {
		return true, err
	}
	transaction, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return true, err
	}
	defer transaction.Rollback()
	if err := s.identityGuard.verify(phase); err != nil { // the connection may be to another database
		return true, err
	}
	if err := caller.Err(); err != nil { // cancelled while waiting for a connection
		return true, err
	}
	// While writes wait for locks, each attempt is short. lock_timeout in the URL, and the background pool's, stay as they are.
	if !s.pools.LockTimeoutSet && !usesBackgroundPool(ctx) && (lockModeOf(ctx).short || s.lockWaiters.waiting.Load() > 0) {
		if _, err := transaction.ExecContext(ctx, s.dialect.LockTimeout(min(shortLockTimeout, s.connection.Timeouts.Lock))); err != nil {
			return true, err
		}
	}
	t := &Tx{Session: Session{conn: transaction, slow: s.slow}, db: s, Now: s.Now(), Actor: actor, caller: caller}
	if err := t.run(ctx, fn); err != nil {
		return true, err
	}
	if err := s.identityGuard.verify(phase); err != nil {
		return true, err
	}
	if err := transaction.Commit(); err != nil {
		return false, err
	}
	t.committed()
	return false, nil
}

// retryLocked retries a write that timed out on a lock with err. It ends when the write succeeds or fails for another reason,
// or its lock timeout since began is over. It does not retry if too many writes wait. The caller is told that its write waits.
func (s *DB) retryLocked(ctx, caller context.Context, began time.Time, try func(ctx context.Context) error, err error) error {
	until := began.Add(s.connection.Timeouts.Lock)
	if !time.Now().Before(until) || !s.lockWaiters.enter() {
		return s.withLockHolder(ctx, err)
	}
	defer s.lockWaiters.leave()
	store.NotifyLockWait(caller)
	ctx = withLockMode(ctx, lockMode{short: true})
	for s.dialect.Classify(err) == dialect.LockTimeout {
		end := s.lockWaiters.acquire(ctx, caller, until)
		if end == nil {
			if gone := caller.Err(); gone != nil {
				return gone
			}
			return s.withLockHolder(ctx, err)
		}
		err = try(ctx)
		end()
	}
	return err
}

// withLockHolder adds to an error that will be logged the longest open transaction, which
// most likely holds the lock.
func (s *DB) withLockHolder(ctx context.Context, err error) error {
	if !s.errorLog.wouldLog(store.ErrLockTimeout) {
		return err
	}
	holder, found, queryErr := One(ctx, s.Reader, Scalar[string], s.dialect.OldestTransaction())
	if queryErr != nil || !found {
		return err
	}
	return fmt.Errorf("%w; the oldest open transaction is %s", err, holder)
}

// TryWrite makes a write that changes nothing, and returns why the database does not take it.
func (s *DB) TryWrite(ctx context.Context) error {
	return s.Update(ctx, "", func(ctx context.Context, t *Tx) error {
		_, err := t.Exec(ctx, `UPDATE store_meta SET value = value WHERE name = 'min_binary'`)
		return err
	})
}
