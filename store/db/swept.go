package db

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"portico/store"
)

// Sweep does away with one kind of what no one needs any more.
type Sweep struct {
	Name  string
	Every time.Duration                                    // at most, of all servers
	Do    func(ctx context.Context) error                  // in short transactions, until nothing is left
	Due   func(ctx context.Context, most int) (int, error) // how much waits for it, counted up to a number; nil where that is not known
}

// Kept is a sweep of what is older than a time, in microseconds and by SafeNow,
// where that is kept for so long; 0 is for ever, and sweeps nothing.
func (s *DB) Kept(name string, every, kept time.Duration, do func(ctx context.Context, before int64) error, due func(ctx context.Context, before int64, most int) (int, error)) Sweep {
	before := func(ctx context.Context) (int64, error) {
		now, err := s.SafeNow(ctx)
		return store.Micros(now.Add(-kept)), err
	}
	return Sweep{
		Name: name, Every: every,
		Do: func(ctx context.Context) error {
			if kept == 0 {
				return nil
			}
			old, err := before(ctx)
			if err != nil {
				return err
			}
			return do(ctx, old)
		},
		Due: func(ctx context.Context, most int) (int, error) {
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

type sweptKey struct{}

// CountSwept has the rows that InBatches has written, and those that Swept is
// told of, be counted under the returned context.
func CountSwept(ctx context.Context, rows *atomic.Int64) context.Context {
	return context.WithValue(ctx, sweptKey{}, rows)
}

// Swept counts rows that were done away with.
func Swept(ctx context.Context, rows int64) {
	if count, ok := ctx.Value(sweptKey{}).(*atomic.Int64); ok {
		count.Add(rows)
	}
}

// CountUpTo counts the rows of a table, with its conditions, up to a number.
func CountUpTo(ctx context.Context, s *DB, most int, from string, args ...any) (int, error) {
	n, _, err := One(ctx, s.Reader, Scalar[int], `SELECT COUNT(*) FROM (SELECT 1 FROM `+from+` LIMIT `+strconv.Itoa(most)+`) AS due`, args...)
	return n, err
}
