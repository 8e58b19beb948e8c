package db

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"portico/store"
)

// Sweep deletes one kind of expired data.
type Sweep struct {
	Name     string
	Every    time.Duration                                    // least interval, across all servers
	Run      func(ctx context.Context) error                  // deletes all expired rows in short transactions
	CountDue func(ctx context.Context, most int) (int, error) // counts expired rows, up to most; nil if unknown
}

// RetentionSweep is a sweep of rows older than kept, by SafeNow. 0 keeps rows for ever. do becomes
// Run and due becomes CountDue; both take the limit in microseconds.
func (s *DB) RetentionSweep(name string, every, kept time.Duration, do func(ctx context.Context, before int64) error, due func(ctx context.Context, before int64, most int) (int, error)) Sweep {
	before := func(ctx context.Context) (int64, error) {
		now, err := s.SafeNow(ctx)
		return store.Micros(now.Add(-kept)), err
	}
	return Sweep{
		Name: name, Every: every,
		Run: func(ctx context.Context) error {
			if kept == 0 {
				return nil
			}
			old, err := before(ctx)
			if err != nil {
				return err
			}
			return do(ctx, old)
		},
		CountDue: func(ctx context.Context, most int) (int, error) {
			if kept == 0 {
				return 0, nil
			}
			old, err := before(ctx)
			if err != nil {
				return 0, err
			}
			return due(ctx, old, most)
		},
	}
}

type sweepCounterKey struct{}

// WithSweepCounter returns a context under which InBatches and AddSwept add to rows.
func WithSweepCounter(ctx context.Context, rows *atomic.Int64) context.Context {
	return context.WithValue(ctx, sweepCounterKey{}, rows)
}

// AddSwept adds deleted rows to the context's counter.
func AddSwept(ctx context.Context, rows int64) {
	if count, ok := ctx.Value(sweepCounterKey{}).(*atomic.Int64); ok {
		count.Add(rows)
	}
}

// CountUpTo counts rows of from, a table with conditions, up to most.
func CountUpTo(ctx context.Context, s *DB, most int, from string, args ...any) (int, error) {
	n, _, err := One(ctx, s.Reader, Scalar[int], `SELECT COUNT(*) FROM (SELECT 1 FROM `+from+` LIMIT `+strconv.Itoa(most)+`) AS due`, args...)
	return n, err
}
