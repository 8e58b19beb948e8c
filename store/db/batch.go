package db

import (
	"context"
	"time"

	"portico/store"
	"portico/store/db/dialect"
)

// BatchSizer adapts the size of batches to how long the previous ones took, so that other
// writes wait only milliseconds for a batch.
type BatchSizer struct {
	bounds dialect.BatchBounds
	rows   int // size of the next batch
}

const (
	firstBatch = 64
	maxBatch   = 5000
)

// NewBatchSizer starts with 64 rows, or with the dialect's minimum if that is larger.
func (s *DB) NewBatchSizer() *BatchSizer { return newBatchSizer(s.dialect.Batch()) }

func newBatchSizer(bounds dialect.BatchBounds) *BatchSizer {
	return &BatchSizer{bounds, max(firstBatch, bounds.MinRows)}
}

// record records the duration of a batch. The next one is at most twice as large.
func (b *BatchSizer) record(rows int, d time.Duration) {
	if rows == 0 {
		return
	}
	fit := maxBatch // the rows that would have taken the target time
	if d > 0 {
		fit = int(min(int64(rows)*int64(b.bounds.Target)/int64(d), maxBatch))
	}
	b.rows = max(b.bounds.MinRows, min(fit, 2*b.rows))
}

// Run runs a batch within its write and sizes the next one by its duration. A failed batch changes no size.
func (b *BatchSizer) Run(batch func(rows int) (done int, err error)) error {
	begun := time.Now()
	done, err := batch(b.rows)
	if err == nil {
		b.record(done, time.Since(begun))
	}
	return err
}

// InBatches calls batch until it handles fewer rows than it was given, in one transaction after another. Where a
// statement runs in this process, a transaction has several short batches, so that the job yields between their
// statements. It throttles between transactions.
func (s *DB) InBatches(ctx context.Context, actor store.Actor, batch func(ctx context.Context, t *Tx, rows int) (done int64, err error)) error {
	bounds := s.dialect.Batch()
	sizer := newBatchSizer(dialect.BatchBounds{Target: bounds.Statement, MinRows: bounds.MinRows})
	for more := true; more; {
		var done int64
		if err := s.Update(ctx, actor, func(ctx context.Context, t *Tx) error {
			done, more = 0, true // it may run again
			for begun := time.Now(); more; {
				if err := sizer.Run(func(rows int) (int, error) {
					n, err := batch(ctx, t, rows)
					done, more = done+n, n >= int64(rows)
					return int(n), err
				}); err != nil {
					return err
				}
				if bounds.Statement >= bounds.Target || // PostgreSQL: one batch a transaction
					time.Since(begun) >= bounds.Target {
					break
				}
			}
			return nil
		}); err != nil {
			return err
		}
		AddSwept(ctx, done)
		Throttle(ctx)
	}
	return nil
}
