package db

import (
	"context"
	"time"

	"portico/store"
)

// BatchSizer adapts the size of batches to how long the previous ones took, so that other
// writes wait only milliseconds for a batch.
type BatchSizer struct {
	batchBounds
	rows int // size of the next batch
}

const (
	firstBatch = 64
	maxBatch   = 5000
)

// NewBatchSizer starts with 64 rows, or with the dialect's minimum if that is larger.
func (s *DB) NewBatchSizer() *BatchSizer { return newBatchSizer(s.dialect.batch()) }

func newBatchSizer(bounds batchBounds) *BatchSizer {
	return &BatchSizer{bounds, max(firstBatch, bounds.minRows)}
}

// record records the duration of a batch. The next one is at most twice as large.
func (p *BatchSizer) record(rows int, d time.Duration) {
	if rows == 0 {
		return
	}
	fit := maxBatch
	if d > 0 {
		fit = int(min(int64(rows)*int64(p.target)/int64(d), maxBatch))
	}
	p.rows = max(p.minRows, min(fit, 2*p.rows))
}

// Run runs a batch within its write and sizes the next one by its duration.
func (p *BatchSizer) Run(batch func(rows int) (done int, err error)) error {
	begun := time.Now()
	done, err := batch(p.rows)
	if err == nil {
		p.record(done, time.Since(begun))
	}
	return err
}

// InBatches calls batch in one transaction after another until it handles fewer rows
// than it was given. It throttles between batches.
func (s *DB) InBatches(ctx context.Context, actor store.Actor, batch func(ctx context.Context, t *Tx, rows int) (done int64, err error)) error {
	p := s.NewBatchSizer()
	for more := true; more; {
		var done int64
		if err := s.Update(ctx, actor, func(ctx context.Context, t *Tx) error {
			return p.Run(func(rows int) (_ int, err error) {
				done, err = batch(ctx, t, rows)
				more = done >= int64(rows)
				return int(done), err
			})
		}); err != nil {
			return err
		}
		AddSwept(ctx, done)
		Throttle(ctx)
	}
	return nil
}
