package server

import (
	"container/list"
	"context"
	"runtime"
	"sync"
	"time"

	"portico/internal/reqctx"
)

// Expensive requests have turns of their own, of which there are few: those
// whose answer is large, or whose cost is high. So the memory of their answers
// and the processor time that they take are bounded however many come at once,
// and all other requests run beside them. A turn lasts until the answer is
// written. A client that reads one slowly loses its connection once others wait.

const (
	expensivePerCore = 2
	maxExpensive     = 8

	// maxQueuedInMemory is how many requests may wait for each expensive turn that
	// hold a part of their answer.
	maxQueuedInMemory = 4
)

func (b Limits) expensiveRequests(requests int) int {
	if b.RequestsExpensive > 0 {
		return b.RequestsExpensive
	}
	return min(requests, maxExpensive, expensivePerCore*runtime.GOMAXPROCS(0))
}

// AcquireExpensive takes a turn among expensive requests. running says that part of the
// answer is in memory, so that few may wait. A turn of a request ends with the
// request, and replaces its turn among reads; end does nothing then. Streams
// have half as many turns of their own, and end gives one back, once.
func (t *ConcurrencyLimiter) AcquireExpensive(ctx context.Context, running bool) (end func(), err error) {
	answer := responseOf(ctx)
	among := &t.expensive
	switch {
	case answer == nil:
		among = &t.events
	case answer.expensive != nil:
		return func() {}, nil
	case answer.slot.held.Load() == &t.reads:
		answer.slot.release()
	}
	room := among.maxQueue
	if running {
		room = min(room, maxQueuedInMemory*among.limit)
	}
	if err := among.acquire(ctx, room); err != nil {
		return func() {}, err
	}
	if answer == nil {
		return sync.OnceFunc(among.release), nil
	}
	answer.expensive = among
	return func() {}, nil
}

// responseOf is the answer of the request that a context belongs to; nil outside
// of Middleware, and for streams.
func responseOf(ctx context.Context) *deadlineWriter {
	if known := reqctx.From(ctx); known != nil {
		if answer, ok := known.Writer.(*deadlineWriter); ok && !answer.unbounded {
			return answer
		}
	}
	return nil
}

// startWriting notes that an answer begins to be written.
func (t *semaphore) startWriting(a *deadlineWriter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a.element = t.writing.PushBack(a)
	t.evict()
}

// endWriting gives the turn of an answer back.
func (t *semaphore) endWriting(a *deadlineWriter) {
	t.mu.Lock()
	if a.element != nil {
		t.writing.Remove(a.element)
	}
	t.mu.Unlock()
	t.release()
}

// evict cuts off the answers that are written for longer than responseGrace, one
// for each request that waits. It comes back for the younger ones. The caller
// holds mu.
func (t *semaphore) evict() {
	cut := t.queue.Len()
	for at := t.writing.Front(); at != nil && cut > 0; at = at.Next() {
		a := at.Value.(*deadlineWriter)
		if young := responseGrace - time.Since(a.writingSince); young > 0 {
			time.AfterFunc(young, func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				t.evict()
			})
			return
		}
		_ = a.control.SetWriteDeadline(time.Unix(1, 0))
		cut--
	}
}

func newSemaphore(most, room int, patience time.Duration) semaphore {
	return semaphore{limit: most, maxQueue: room, timeout: patience, queue: list.New(), writing: list.New()}
}
