package server

import (
	"container/list"
	"context"
	"sync"
	"time"

	"portico/store"
)

// semaphore limits the concurrent requests of one kind. Further requests wait in a queue, the first
// to come first, for at most timeout. Without the bounds of the queue, overload makes requests wait until
// their clients have given up, and the server works for nobody (TestOverloadAnswersOrRefuses). x/sync/semaphore has no
// bound of its queue, and cannot take a slot back from a client that reads slowly (TestExpensiveLimit).
type semaphore struct {
	limit, maxQueue int
	timeout         time.Duration

	mu      sync.Mutex
	inUse   int        // slots
	queue   *list.List // of chan struct{}, closed when the waiter gets its slot
	writing *list.List // of *deadlineWriter: responses being written that hold a slot, the oldest first
	refused uint64     // calls of acquire without success
}

func newSemaphore(limit, maxQueue int, timeout time.Duration) semaphore {
	return semaphore{limit: limit, maxQueue: maxQueue, timeout: timeout, queue: list.New(), writing: list.New()}
}

// acquire waits for a slot, which release gives back. It fails with errOverloaded at once if the queue has the length longest,
// which is maxQueue or less, and when the timeout or ctx ends.
func (s *semaphore) acquire(ctx context.Context, longest int) error {
	s.mu.Lock()
	if s.inUse < s.limit {
		s.inUse++
		s.mu.Unlock()
		return nil
	}
	if s.queue.Len() >= longest || s.timeout <= 0 {
		s.refused++
		s.mu.Unlock()
		return errOverloaded()
	}
	acquired := make(chan struct{})
	element := s.queue.PushBack(acquired)
	s.evict()
	s.mu.Unlock()
	timer := time.NewTimer(s.timeout)
	defer timer.Stop()
	select {
	case <-acquired:
		return nil
	case <-ctx.Done():
	case <-timer.C:
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-acquired: // meanwhile
		return nil
	default:
	}
	s.queue.Remove(element)
	s.refused++
	return errOverloaded()
}

// release gives the slot to the first in the queue, so that inUse stays; with an empty queue it frees the slot.
func (s *semaphore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if first := s.queue.Front(); first != nil {
		close(s.queue.Remove(first).(chan struct{}))
		return
	}
	s.inUse--
}

// acquireOnce acquires a slot that only the first call of release gives back.
func (s *semaphore) acquireOnce(ctx context.Context) (release func(), err error) {
	if err := s.acquire(ctx, s.maxQueue); err != nil {
		return func() {}, err
	}
	return sync.OnceFunc(s.release), nil
}

// startWriting puts a response that holds a slot on the list of those that evict may close, when it begins to be written.
func (s *semaphore) startWriting(w *deadlineWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.element = s.writing.PushBack(w)
	s.evict()
}

// endWriting releases the slot of a response, and takes it off the list, on which it is not if nothing was written.
func (s *semaphore) endWriting(w *deadlineWriter) {
	s.mu.Lock()
	if w.element != nil {
		s.writing.Remove(w.element)
	}
	s.mu.Unlock()
	s.release()
}

// evict closes the connection of one response for each request in the queue, the oldest first, but none
// that is written for less than responseGrace: it calls itself again for those. A response whose connection was closed
// stands for a request until endWriting, which gives it the slot. The caller holds mu.
func (s *semaphore) evict() {
	count := s.queue.Len()
	for element := s.writing.Front(); element != nil && count > 0; element = element.Next() {
		w := element.Value.(*deadlineWriter)
		if wait := responseGrace - time.Since(w.writingSince); wait > 0 {
			time.AfterFunc(wait, func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				s.evict()
			})
			return
		}
		w.abort()
		count--
	}
}

func errOverloaded() error {
	return &store.Error{Code: store.Unavailable, Detail: "The server is overloaded and did not process this request. Retry after the time in Retry-After."}
}
