package server

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
)

// slot is the slot that a request holds, if any. Only the request's own goroutine acquires one.
type slot struct {
	held atomic.Pointer[semaphore] // nil for none
}

// acquire acquires a slot of s in place of the one held.
func (t *slot) acquire(ctx context.Context, s *semaphore) error {
	if t.held.Load() == s {
		return nil
	}
	t.release()
	if err := s.acquire(ctx, s.maxQueue); err != nil {
		return err
	}
	t.held.Store(s)
	return nil
}

func (t *slot) release() {
	if s := t.held.Swap(nil); s != nil {
		s.release()
	}
}

// OnLockWait implements store.LockWaitListener: a write that waits for rows that another transaction has
// locked releases its slot, so that other writes run meanwhile.
func (t *slot) OnLockWait() { t.release() }

// acquiringBody acquires a slot at the end of the body, so that no slot waits for the client. If it gets
// none, the read fails with the reason instead of io.EOF.
type acquiringBody struct {
	io.ReadCloser
	ctx       context.Context
	slot      *slot
	semaphore *semaphore
}

func (b *acquiringBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		if refused := b.slot.acquire(b.ctx, b.semaphore); refused != nil {
			return n, refused
		}
	}
	return n, err
}
