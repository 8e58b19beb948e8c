package db

import (
	"slices"
	"sync"
	"time"
)

// Notifier delivers the state of things to watchers, by id. A slow watcher gets only the
// newest state of each thing, so its memory is bounded.
type Notifier[T any] struct {
	newer func(told, known T) bool // whether a state is newer than another

	mu            sync.Mutex
	subscriptions map[string]map[*Subscription[T]]struct{} // by id
	pending       map[string]T                             // not delivered yet
	timer         *time.Timer                              // delivers; nil while nothing is pending
	flushedAt     time.Time                                // last delivery
}

// notifyEvery is the least interval between deliveries. Writes in between only replace
// the pending state, so frequent changes cost a map access each.
const notifyEvery = 100 * time.Millisecond

// NewNotifier returns a Watch. newer reports whether a state is newer than the known one.
func NewNotifier[T any](newer func(told, known T) bool) *Notifier[T] {
	return &Notifier[T]{newer: newer, subscriptions: map[string]map[*Subscription[T]]struct{}{}, pending: map[string]T{}}
}

// Subscription receives the states of its ids until it is closed.
type Subscription[T any] struct {
	notifier *Notifier[T]
	ids      []string

	mu             sync.Mutex
	known          map[string]T
	pending        []string // ids with an undelivered state, oldest first
	resets         int      // number of resets
	offeredAtReset int      // round of the state that Newest returned
	changed        chan struct{}
}

// Subscribe returns a watcher of ids.
func (w *Notifier[T]) Subscribe(ids []string) *Subscription[T] {
	made := &Subscription[T]{notifier: w, ids: ids, known: make(map[string]T, len(ids)), changed: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if w.subscriptions[id] == nil {
			w.subscriptions[id] = map[*Subscription[T]]struct{}{}
		}
		w.subscriptions[id][made] = struct{}{}
	}
	return made
}

// Close unsubscribes. It may be called more than once.
func (w *Subscription[T]) Close() {
	w.notifier.mu.Lock()
	defer w.notifier.mu.Unlock()
	for _, id := range w.ids {
		delete(w.notifier.subscriptions[id], w)
		if len(w.notifier.subscriptions[id]) == 0 {
			delete(w.notifier.subscriptions, id)
			delete(w.notifier.pending, id)
		}
	}
}

// SubscribedIDs lists all ids with watchers.
func (w *Notifier[T]) SubscribedIDs() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]string, 0, len(w.subscriptions))
	for id := range w.subscriptions {
		ids = append(ids, id)
	}
	return ids
}

// Subscribed reports whether there are watchers.
func (w *Notifier[T]) Subscribed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.subscriptions) > 0
}

// Reset makes every watcher accept the next state of each thing, even an older one.
func (w *Notifier[T]) Reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.pending)
	for _, watchers := range w.subscriptions {
		for watcher := range watchers {
			watcher.reset()
		}
	}
}

// Publish delivers a state to the watchers of id, within notifyEvery.
func (w *Notifier[T]) Publish(id string, state T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.subscriptions[id]) == 0 {
		return
	}
	if known, ok := w.pending[id]; ok && !w.newer(state, known) {
		return
	}
	w.pending[id] = state
	if w.timer == nil {
		w.timer = time.AfterFunc(notifyEvery-time.Since(w.flushedAt), w.flush)
	}
}

// flush delivers the pending states.
func (w *Notifier[T]) flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer, w.flushedAt = nil, time.Now()
	for id, state := range w.pending {
		for watcher := range w.subscriptions[id] {
			watcher.Offer(id, state)
		}
	}
	clear(w.pending)
}

// Offer offers a state to one watcher, which ignores it if it knows a newer one.
func (w *Subscription[T]) Offer(id string, state T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.known[id]; ok && !w.notifier.newer(state, known) {
		return
	}
	w.known[id] = state
	if !slices.Contains(w.pending, id) {
		w.pending = append(w.pending, id)
	}
	select {
	case w.changed <- struct{}{}:
	default: // already signalled
	}
}

func (w *Subscription[T]) reset() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.known)
	w.pending = nil
	w.resets++
}

// Newest returns the newest state of the id that changed first and was not taken; ok is
// false if there is none.
func (w *Subscription[T]) Newest() (state T, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offeredAtReset = w.resets
	if len(w.pending) == 0 {
		return state, false
	}
	return w.known[w.pending[0]], true
}

// Ack marks the state that Newest returned as taken. A newer one that arrived since
// stays pending.
func (w *Subscription[T]) Ack(state T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 || w.offeredAtReset != w.resets {
		return
	}
	if id := w.pending[0]; w.newer(w.known[id], state) {
		w.pending = append(w.pending[1:], id)
	} else {
		w.pending = w.pending[1:]
	}
}

func (w *Subscription[T]) newer(told, known T) bool { return w.notifier.newer(told, known) }

// Changed receives when Newest may return another state.
func (w *Subscription[T]) Changed() <-chan struct{} { return w.changed }
