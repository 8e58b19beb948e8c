package db

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"portico/store"
)

// A write on PostgreSQL waits lockTry for a row that another transaction holds,
// as for one that commits. Then it rolls back, gives up its connection and its
// place among writes, and tries again for lockGlance at a time, until
// store.Patience.Lock is over. Only half of the connections try at once, in turn.
// While any write waits so, the first try of every other lasts lockGlance too. So
// those who wait for one row keep nobody else from writing, however many they are.
const (
	lockTry    = 250 * time.Millisecond
	lockGlance = 20 * time.Millisecond

	mostLockWaits = 1000 // writes that wait so; more are refused at once
)

// lockWaits are the writes of one database that wait beyond lockTry.
type lockWaits struct {
	waiting atomic.Int64
	trying  chan struct{} // one for each that may try at once
}

func newLockWaits(connections int) *lockWaits {
	return &lockWaits{trying: make(chan struct{}, max(1, connections/2))}
}

// enter counts a write among those that wait; it is false where there are too
// many.
func (l *lockWaits) enter() bool {
	if l.waiting.Add(1) > mostLockWaits {
		l.waiting.Add(-1)
		return false
	}
	return true
}

func (l *lockWaits) leave() { l.waiting.Add(-1) }

// turn waits until the write may try, and returns what ends the try; nil once
// its time is over, or either context ends.
func (l *lockWaits) turn(ctx, caller context.Context, until time.Time) (end func()) {
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	select {
	case l.trying <- struct{}{}:
		return func() { <-l.trying }
	case <-over.C:
	case <-ctx.Done():
	case <-caller.Done():
	}
	return nil
}

type lockModeKey struct{}

// lockMode is how a write waits for rows that another transaction holds.
type lockMode struct {
	glance bool // its tries last lockGlance
	once   bool // it is tried once
}

func withLockMode(ctx context.Context, mode lockMode) context.Context {
	return context.WithValue(ctx, lockModeKey{}, mode)
}

func lockModeOf(ctx context.Context) lockMode {
	mode, _ := ctx.Value(lockModeKey{}).(lockMode)
	return mode
}

// updateHeld tries a write again that met rows which another transaction holds,
// until it is made, fails for another reason, or its time since it began is over.
func (s *DB) updateHeld(ctx, caller context.Context, began time.Time, try func(ctx context.Context) error, err error) error {
	until := began.Add(s.patience.Lock)
	if !time.Now().Before(until) || !s.lockWaits.enter() {
		return s.nameHolder(ctx, err)
	}
	defer s.lockWaits.leave()
	store.WaitsForLock(caller)
	ctx = withLockMode(ctx, lockMode{glance: true})
	for s.dialect.classify(err) == faultHeld {
		end := s.lockWaits.turn(ctx, caller, until)
		if end == nil {
			if gone := caller.Err(); gone != nil {
				return gone
			}
			return s.nameHolder(ctx, err)
		}
		err = try(ctx)
		end()
	}
	return err
}

// nameHolder adds to an error, if it will be logged, the transaction that most
// likely holds the rows: the one that has been open for longest.
func (s *DB) nameHolder(ctx context.Context, err error) error {
	if !s.troubles.due(store.ErrHeld) {
		return err
	}
	holder, found, asked := One(ctx, s.Reader, Scalar[string], s.dialect.oldestTransaction())
	if asked != nil || !found {
		return err
	}
	return fmt.Errorf("%w; the oldest open transaction is %s", err, holder)
}
