package db

import (
	"context"
	"time"

	"portico/store"
)

// Pace sizes the batches of long work, so that the writes of others, which
// wait for a batch at most, wait for milliseconds: by how long the batches
// before took, on this machine and beside what else it does.
type Pace struct {
	batchBounds
	rows int // of the next batch
}

// batchBounds are the bounds of a batch, by what a batch costs others.
type batchBounds struct {
	time  time.Duration // that a batch is to take, before it is committed
	least int           // rows, however long they take
}

const (
	firstBatch = 64
	mostBatch  = 5000
)

// NewPace begins with a batch of 64 rows, or of the least that there may be.
func (s *DB) NewPace() *Pace { return newPace(s.dialect.batch()) }

func newPace(bounds batchBounds) *Pace { return &Pace{bounds, max(firstBatch, bounds.least)} }

// took says how long a batch of so many rows took. A batch is at most twice as
// large as the one before, which a lucky one was, and may be any smaller.
func (p *Pace) took(rows int, d time.Duration) {
	if rows == 0 {
		return
	}
	fit := mostBatch
	if d > 0 {
		fit = int(min(int64(rows)*int64(p.time)/int64(d), mostBatch))
	}
	p.rows = max(p.least, min(fit, 2*p.rows))
}

// Timed runs a batch within its write, and paces the next by it.
func (p *Pace) Timed(batch func(rows int) (done int, err error)) error {
	begun := time.Now()
	done, err := batch(p.rows)
	if err == nil {
		p.took(done, time.Since(begun))
	}
	return err
}

// InBatches has rows be written batch by batch, each in a transaction of its
// own, until a batch leaves some of its rows undone: there are no more. Between
// batches it gives way.
func (s *DB) InBatches(ctx context.Context, actor store.Actor, batch func(ctx context.Context, t *Tx, rows int) (done int64, err error)) error {
	p := s.NewPace()
	for more := true; more; {
		var done int64
		if err := s.Update(ctx, actor, func(ctx context.Context, t *Tx) error {
			return p.Timed(func(rows int) (_ int, err error) {
				done, err = batch(ctx, t, rows)
				more = done >= int64(rows)
				return int(done), err
			})
		}); err != nil {
			return err
		}
		Swept(ctx, done)
		GiveWay(ctx)
	}
	return nil
}
