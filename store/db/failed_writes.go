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

// failedWrites counts by cause the writes that the database did not take since the last one that changed rows.
type failedWrites [len(failedWriteCauses)]atomic.Int64

// record counts a write that failed.
func (f *failedWrites) record(err error) {
	for i, cause := range failedWriteCauses {
		if errors.Is(err, cause.err) {
			f[i].Add(1)
			return
		}
	}
}

// reset is called after each write that changed rows.
func (f *failedWrites) reset() {
	for i := range f {
		if f[i].Load() != 0 {
			f[i].Store(0)
		}
	}
}

// FailedWrites returns the number of writes that the database did not take since the last one that changed rows, by
// cause: full (its disk), read_only or connection.
func (s *DB) FailedWrites() map[string]int64 {
	counts := map[string]int64{}
	for i, cause := range failedWriteCauses {
		counts[cause.name] = s.failedWrites[i].Load()
	}
	return counts
}

// WriteTrouble returns why writes fail at the moment: store.ErrDiskFull, store.ErrReadOnly or store.ErrUnavailable; nil
// if the last write succeeded. It does not query the database.
func (s *DB) WriteTrouble() error {
	if s.ReadOnly() {
		return store.ErrReadOnly
	}
	for i, cause := range failedWriteCauses {
		if s.failedWrites[i].Load() > 0 {
			return cause.err
		}
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

// tryWriteEvery is how often a server whose writes fail tries one, so that it notices when they work again.
const tryWriteEvery = 10 * time.Second

// retryWrites tries writes while they fail, until ctx ends.
func (s *DB) retryWrites(ctx context.Context) {
	for {
		select {
		case <-time.After(s.tryWriteEvery):
		case <-ctx.Done():
			return
		}
		if s.WriteTrouble() != nil {
			_ = s.TryWrite(ctx) // counted and logged
		}
	}
}
