package db

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"portico/store"
)

// failedWriteCauses are the reasons for which a database takes no writes.
var failedWriteCauses = [...]struct {
	name string
	err  error
}{{"full", store.ErrDiskFull}, {"read_only", store.ErrReadOnly}, {"connection", store.ErrUnavailable}}

// failedWrites counts the writes that the database did not take, by cause.
type failedWrites struct {
	counts [len(failedWriteCauses)]atomic.Int64
	last   atomic.Pointer[failedWrite]
}

type failedWrite struct {
	cause error
	at    time.Time
}

// record counts a write that failed.
func (f *failedWrites) record(err error) {
	for i, cause := range failedWriteCauses {
		if errors.Is(err, cause.err) {
			f.counts[i].Add(1)
			f.last.Store(&failedWrite{cause.err, time.Now()})
			return
		}
	}
}

// FailedWrites returns the number of writes that the database did not take since it was opened, by cause: full (its
// disk), read_only or connection.
func (s *DB) FailedWrites() map[string]int64 {
	counts := map[string]int64{}
	for i, cause := range failedWriteCauses {
		counts[cause.name] = s.failedWrites.counts[i].Load()
	}
	return counts
}

// troubleTime is how long a failed write counts as trouble. On a full disk small writes may succeed between larger ones.
const troubleTime = time.Minute

// WriteTrouble returns why the database did not take a write within the last minute: store.ErrDiskFull,
// store.ErrReadOnly or store.ErrUnavailable; nil if it took all. It does not query the database.
func (s *DB) WriteTrouble() error {
	if s.ReadOnly() {
		return store.ErrReadOnly
	}
	if last := s.failedWrites.last.Load(); last != nil && time.Since(last.at) < troubleTime {
		return last.cause
	}
	return nil
}

// TryWrite makes a write that changes nothing, and returns why the database does not take it.
func (s *DB) TryWrite(ctx context.Context) error {
	return s.Update(ctx, "", func(ctx context.Context, t *Tx) error {
		_, err := t.Exec(ctx, `UPDATE store_meta SET value = value WHERE name = 'min_binary'`)
		return err
	})
}
