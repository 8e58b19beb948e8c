package db

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"portico/store"
	"portico/store/db/dialect"
)

// storeError returns the store error for a kind; nil if the statement itself was wrong.
func storeError(f dialect.ErrorKind) error {
	switch f {
	case dialect.Missing:
		return store.ErrReplaced
	case dialect.Unavailable, dialect.Retry: // writes handle dialect.Retry before
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

// errorLogEvery is how often errors of one kind are logged.
const errorLogEvery = 10 * time.Second

// errorLogger logs database errors: the first of each kind at once, then a count.
type errorLogger struct {
	log *slog.Logger

	mu     sync.Mutex
	byKind map[error]*errorCount
}

type errorCount struct {
	loggedAt time.Time // last log entry
	count    int       // errors since then
	last     error
}

// record logs or counts an error.
func (t *errorLogger) record(kind, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.byKind[kind]
	if known == nil {
		known = &errorCount{}
		t.byKind[kind] = known
	}
	known.count++
	known.last = cause
	if time.Since(known.loggedAt) >= errorLogEvery {
		known.log(t.log, kind)
	}
}

// wouldLog reports whether the next error of a kind is logged at once.
func (t *errorLogger) wouldLog(kind error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.byKind[kind]
	return known == nil || time.Since(known.loggedAt) >= errorLogEvery
}

// flush logs counted errors when their interval has passed.
func (t *errorLogger) flush() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for kind, known := range t.byKind {
		if known.count > 0 && time.Since(known.loggedAt) >= errorLogEvery {
			known.log(t.log, kind)
		}
	}
}

func (known *errorCount) log(log *slog.Logger, kind error) {
	log.Error(kind.Error(), "times", known.count, "error", known.last)
	known.loggedAt, known.count, known.last = time.Now(), 0, nil
}
