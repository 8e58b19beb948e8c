package db

import (
	"context"
	"sync/atomic"
	"time"
)

// On PostgreSQL a write waits up to firstLockTimeout for a row lock. Then it rolls back, frees
// its connection and its place in the queue, and retries with shortLockTimeout (DB.retryLocked) until
// store.Timeouts.Lock is over. At most half of the connections retry at once. While
// any write waits like this, the first attempt of every write uses shortLockTimeout too (DB.runTxOnce).
// So writes that wait for one row never block the others.
const (
	firstLockTimeout = 250 * time.Millisecond
	shortLockTimeout = 20 * time.Millisecond

	maxLockWaiters = 1000 // writes that may wait; more are rejected
)

// lockWaiters are the writes of a database that wait for a lock after their first attempt.
type lockWaiters struct {
	waiting atomic.Int64
	slots   chan struct{} // a slot for each that may retry at once
}

func newLockWaiters(connections int) *lockWaiters {
	return &lockWaiters{slots: make(chan struct{}, max(1, connections/2))}
}

// enter adds a write. It returns false if too many wait.
func (l *lockWaiters) enter() bool {
	if l.waiting.Add(1) > maxLockWaiters {
		l.waiting.Add(-1)
		return false
	}
	return true
}

func (l *lockWaiters) leave() { l.waiting.Add(-1) }

// acquire waits for a slot and returns the function that frees it, or nil if the time is over or a context ends. ctx is
// the write's, which has its timeout and ignores the caller's cancellation; caller is the context of its request.
func (l *lockWaiters) acquire(ctx, caller context.Context, until time.Time) (end func()) {
	over := time.NewTimer(time.Until(until))
	defer over.Stop()
	select {
	case l.slots <- struct{}{}:
		return func() { <-l.slots }
	case <-over.C:
	case <-ctx.Done():
	case <-caller.Done():
	}
	return nil
}

type lockModeKey struct{}

// lockMode is how a write waits for row locks.
type lockMode struct {
	short bool // attempts last shortLockTimeout
	once  bool // no retry: a group of a WriteQueue, whose requests then run one by one
}

func withLockMode(ctx context.Context, mode lockMode) context.Context {
	return context.WithValue(ctx, lockModeKey{}, mode)
}

func lockModeOf(ctx context.Context) lockMode {
	mode, _ := ctx.Value(lockModeKey{}).(lockMode)
	return mode
}
