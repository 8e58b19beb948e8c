package db

import (
	"slices"
	"sync"
	"time"
)

// Notifier delivers the state of things to watchers, by id. A slow watcher gets only the
// newest state of each thing, so its memory is bounded.
type Notifier[T any] struct {
	newer func(state, known T) bool // whether a state is newer than another

	mu            sync.Mutex
	subscriptions map[string]map[*Subscription[T]]struct{} // by id
	pending       map[string]T                             // not delivered yet
	timer         *time.Timer                              // delivers; nil while nothing is pending
	flushedAt     time.Time                                // last delivery
}

// notifyEvery is the least interval between deliveries. Writes in between only replace
// the pending state, so frequent changes cost a map access each.
const notifyEvery = 100 * time.Millisecond

// NewNotifier returns a Notifier without watchers. newer reports whether a state is newer than the known one.
func NewNotifier[T any](newer func(state, known T) bool) *Notifier[T] {
	return &Notifier[T]{newer: newer, subscriptions: map[string]map[*Subscription[T]]struct{}{}, pending: map[string]T{}}
}

// Subscription receives the states of its ids until it is closed.
type Subscription[T any] struct {
	notifier *Notifier[T]
	ids      []string // that it watches

	mu             sync.Mutex
	known          map[string]T // newest state by id
	pending        []string     // ids with an undelivered state, oldest first
	resets         int          // calls of reset
	offeredAtReset int          // resets at the last call of Newest
	changed        chan struct{}
}

// Subscribe returns a watcher of ids.
func (n *Notifier[T]) Subscribe(ids []string) *Subscription[T] {
	watcher := &Subscription[T]{notifier: n, ids: ids, known: make(map[string]T, len(ids)), changed: make(chan struct{}, 1)}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		if n.subscriptions[id] == nil {
			n.subscriptions[id] = map[*Subscription[T]]struct{}{}
		}
		n.subscriptions[id][watcher] = struct{}{}
	}
	return watcher
}

// Close unsubscribes. It may be called more than once.
func (s *Subscription[T]) Close() {
	s.notifier.mu.Lock()
	defer s.notifier.mu.Unlock()
	for _, id := range s.ids {
		delete(s.notifier.subscriptions[id], s)
		if len(s.notifier.subscriptions[id]) == 0 {
			delete(s.notifier.subscriptions, id)
			delete(s.notifier.pending, id)
		}
	}
}

// SubscribedIDs lists all ids with watchers.
func (n *Notifier[T]) SubscribedIDs() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids := make([]string, 0, len(n.subscriptions))
	for id := range n.subscriptions {
		ids = append(ids, id)
	}
	return ids
}

// Subscribed reports whether there are watchers.
func (n *Notifier[T]) Subscribed() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.subscriptions) > 0
}

// Reset makes every watcher accept the next state of each thing, even an older one.
func (n *Notifier[T]) Reset() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.pending)
	for _, watchers := range n.subscriptions {
		for watcher := range watchers {
			watcher.reset()
		}
	}
}

// Publish delivers a state to the watchers of id, within notifyEvery.
func (n *Notifier[T]) Publish(id string, state T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.subscriptions[id]) == 0 {
		return
	}
	if known, ok := n.pending[id]; ok && !n.newer(state, known) {
		return
	}
	n.pending[id] = state
	if n.timer == nil {
		n.timer = time.AfterFunc(notifyEvery-time.Since(n.flushedAt), n.flush)
	}
}

// flush delivers the pending states.
func (n *Notifier[T]) flush() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.timer, n.flushedAt = nil, time.Now()
	for id, state := range n.pending {
		for watcher := range n.subscriptions[id] {
			watcher.Offer(id, state)
		}
	}
	clear(n.pending)
}

// Offer offers a state to one watcher, which ignores it if it knows a newer one.
func (s *Subscription[T]) Offer(id string, state T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.known[id]; ok && !s.notifier.newer(state, known) {
		return
	}
	s.known[id] = state
	if !slices.Contains(s.pending, id) {
		s.pending = append(s.pending, id)
	}
	select {
	case s.changed <- struct{}{}:
	default: // already signalled
	}
}

func (s *Subscription[T]) reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.known)
	s.pending = nil
	s.resets++
}

// Newest returns the newest state of the id that changed first and was not taken; ok is
// false if there is none.
func (s *Subscription[T]) Newest() (state T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offeredAtReset = s.resets
	if len(s.pending) == 0 {
		return state, false
	}
	return s.known[s.pending[0]], true
}

// Ack marks the state that Newest returned as taken. A newer one that arrived since stays pending, behind the other ids.
// After a reset it does nothing, because the state is no longer pending.
func (s *Subscription[T]) Ack(state T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 || s.offeredAtReset != s.resets {
		return
	}
	if id := s.pending[0]; s.notifier.newer(s.known[id], state) {
		s.pending = append(s.pending[1:], id)
	} else {
		s.pending = s.pending[1:]
	}
}

// Changed receives when Newest may return another state.
func (s *Subscription[T]) Changed() <-chan struct{} { return s.changed }
