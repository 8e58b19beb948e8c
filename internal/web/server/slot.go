package server

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// slot is the slot of a semaphore that a request holds, if any. Only the request's own goroutine acquires one. Without its early
// release, a few clients that send slowly, or that keep a stream open, hold all slots (TestSlowClientsHoldNoSlot),
// and so do writes that wait for one locked row (TestLockWaitReleasesSlot).
type slot struct {
	held atomic.Pointer[semaphore] // nil for none
}

// acquire acquires a slot of a semaphore in place of the one held. If it fails, the request holds none.
func (s *slot) acquire(ctx context.Context, from *semaphore) error {
	if s.held.Load() == from {
		return nil
	}
	s.release()
	if err := from.acquire(ctx, from.maxQueue); err != nil {
		return err
	}
	s.held.Store(from)
	return nil
}

// release gives the slot back, if one is held. Any goroutine may call it.
func (s *slot) release() {
	if held := s.held.Swap(nil); held != nil {
		held.release()
	}
}

// OnLockWait implements store.LockWaitListener: a write that waits for rows that another transaction has
// locked releases its slot, so that other writes run meanwhile.
func (s *slot) OnLockWait() { s.release() }

// acquiringBody acquires a slot at the end of the body, so that no slot waits for the client. If it gets
// none, the read fails with the reason instead of io.EOF.
type acquiringBody struct {
	io.ReadCloser
	ctx       context.Context
	slot      *slot
	semaphore *semaphore
}

// Read implements io.Reader.
func (b *acquiringBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if refused := b.slot.acquire(b.ctx, b.semaphore); refused != nil {
			return n, refused
		}
	}
	return n, err
}
