package db

import (
	"errors"
	"fmt"
	"runtime/debug"

	"portico/store"
	"portico/store/db/dialect"
)

// readError classifies the error of a read.
func (s *DB) readError(err error) error {
	if s.IsClosing() {
		return fmt.Errorf("%w: %w", store.ErrClosed, err)
	}
	if s.pools.FileGuard.Check() != nil {
		return fmt.Errorf("%w: %w", store.ErrFileReplaced, err)
	}
	return s.databaseError(err)
}

// databaseError wraps err with the store error that it means, and logs it. It returns err unchanged if the statement itself
// was wrong. A missing table suspends the database (identityGuard), and a rejected write makes it read-only.
func (s *DB) databaseError(err error) error {
	failure := s.dialect.Classify(err)
	if failure == dialect.Missing {
		s.identityGuard.suspend("a table is missing: " + err.Error())
	}
	kind := storeError(failure)
	if errors.Is(err, store.ErrTimeout) { // the end of a context, which drivers report in different ways
		kind = store.ErrTimeout
	}
	if kind == nil {
		return err
	}
	s.errorLog.record(kind, err)
	if kind == store.ErrReadOnly {
		s.readOnly.Store(true)
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// lostConnection reports whether an open connection was lost, as when the database restarts.
// A connection that could not be opened does not count, and is not retried.
func (s *DB) lostConnection(err error) bool {
	return s.dialect.Classify(err) == dialect.Unavailable && !s.dialect.Unreachable(err)
}

// writeError classifies the error of a write, and counts those that failed because of the database. A write that still lost to
// others after its retries is CONFLICT.
func (s *DB) writeError(err error) error {
	if err == nil {
		return nil
	}
	switch {
	case s.IsClosing():
		return fmt.Errorf("%w: %w", store.ErrClosed, err)
	case errors.Is(err, store.ErrFileReplaced):
		return err
	case s.isRetryable(err) && s.dialect.Classify(err) != dialect.TxEnded:
		return &store.Error{Code: store.Conflict, Detail: "Other writes kept changing the same rows. Nothing was written; retry."}
	}
	err = s.databaseError(err)
	s.failedWrites.record(err)
	return err
}

// ErrRetryWrite makes Update run a write again because another one came first.
var ErrRetryWrite = errors.New("another write came first")

// IsDuplicate reports whether a write violated a unique constraint.
func (s *DB) IsDuplicate(err error) bool { return s.dialect.Classify(err) == dialect.Duplicate }

// isRetryable reports whether a write lost to another one or was ended for being idle, so
// that it may be retried.
func (s *DB) isRetryable(err error) bool {
	kind := s.dialect.Classify(err)
	return errors.Is(err, ErrRetryWrite) || kind == dialect.Retry || kind == dialect.TxEnded
}

// isRetryableRead reports whether a failed read may be retried.
func (s *DB) isRetryableRead(err error) bool { return s.lostConnection(err) || s.isRetryable(err) }

// RecoverPanic turns a panic of fn into an error, so that the write rolls back.
func RecoverPanic(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// storeError returns the store error for a kind; nil if the statement itself was wrong.
func storeError(kind dialect.ErrorKind) error {
	switch kind {
	case dialect.Missing:
		return store.ErrReplaced
	case dialect.Unavailable, dialect.Retry: // Retry of reads only: writeError handles that of writes
		return store.ErrUnavailable
	case dialect.Timeout, dialect.TxEnded:
		return store.ErrTimeout
	case dialect.LockTimeout:
		return store.ErrLockTimeout
	case dialect.ReadOnly:
		return store.ErrReadOnly
	case dialect.DiskFull:
		return store.ErrDiskFull
	}
	return nil
}

// isDatabaseError reports whether a write failed because of the database, not its input.
func isDatabaseError(err error) bool {
	for _, kind := range []error{store.ErrClosed, store.ErrFileReplaced, store.ErrReplaced, store.ErrUnavailable, store.ErrTimeout, store.ErrLockTimeout, store.ErrReadOnly, store.ErrDiskFull} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
