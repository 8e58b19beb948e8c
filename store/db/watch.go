package db

import (
	"slices"
	"sync"
	"time"
)

// Watch tells those who follow things by their ids how each has come to be.
// Who reads slowly finds the newest state of each, and no queue of those
// before it, so that a watcher costs the same however much changes.
type Watch[T any] struct {
	newer func(told, known T) bool // whether a state is later than another

	mu       sync.Mutex
	watchers map[string]map[*Watcher[T]]struct{} // by id
	told     map[string]T                        // not handed on yet
	due      *time.Timer                         // hands on; nil while nothing waits
	handed   time.Time                           // when it last did
}

// handEvery is how often watchers are told at most: in between states
// supersede each other, so that what changes a thousand times a second costs
// its writers one look at a map each time, however many watch it.
const handEvery = 100 * time.Millisecond

// NewWatch is told by newer whether a state is later than the one known.
func NewWatch[T any](newer func(told, known T) bool) *Watch[T] {
	return &Watch[T]{newer: newer, watchers: map[string]map[*Watcher[T]]struct{}{}, told: map[string]T{}}
}

// Watcher follows things by their ids, until it is closed.
type Watcher[T any] struct {
	of  *Watch[T]
	ids []string

	mu      sync.Mutex
	known   map[string]T
	fresh   []string // ids whose state was not taken, the longest first
	round   int      // how often everything was forgotten
	offered int      // the round of the state that Newest told
	changed chan struct{}
}

// Begin has a watcher of some ids be told of them from now on.
func (w *Watch[T]) Begin(ids []string) *Watcher[T] {
	made := &Watcher[T]{of: w, ids: ids, known: make(map[string]T, len(ids)), changed: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if w.watchers[id] == nil {
			w.watchers[id] = map[*Watcher[T]]struct{}{}
		}
		w.watchers[id][made] = struct{}{}
	}
	return made
}

// Close ends it. It may be called more than once.
func (w *Watcher[T]) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	for _, id := range w.ids {
		delete(w.of.watchers[id], w)
		if len(w.of.watchers[id]) == 0 {
			delete(w.of.watchers, id)
			delete(w.of.told, id)
		}
	}
}

// Watched lists the ids that anyone follows.
func (w *Watch[T]) Watched() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]string, 0, len(w.watchers))
	for id := range w.watchers {
		ids = append(ids, id)
	}
	return ids
}

// Forget has every watcher take the next state of each thing, whether or not it
// is later than the one known.
func (w *Watch[T]) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.told)
	for _, watchers := range w.watchers {
		for watcher := range watchers {
			watcher.forget()
		}
	}
}

// Tell takes in a state. Whoever follows the thing is told soon.
func (w *Watch[T]) Tell(id string, state T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.watchers[id]) == 0 {
		return
	}
	if known, ok := w.told[id]; ok && !w.newer(state, known) {
		return
	}
	w.told[id] = state
	if w.due == nil {
		w.due = time.AfterFunc(handEvery-time.Since(w.handed), w.hand)
	}
}

// hand hands on what was told.
func (w *Watch[T]) hand() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due, w.handed = nil, time.Now()
	for id, state := range w.told {
		for watcher := range w.watchers[id] {
			watcher.Take(id, state)
		}
	}
	clear(w.told)
}

// Take lets a watcher know a state, unless it knows a later one.
func (w *Watcher[T]) Take(id string, state T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if known, ok := w.known[id]; ok && !w.of.newer(state, known) {
		return
	}
	w.known[id] = state
	if !slices.Contains(w.fresh, id) {
		w.fresh = append(w.fresh, id)
	}
	select {
	case w.changed <- struct{}{}:
	default: // it knows
	}
}

func (w *Watcher[T]) forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	clear(w.known)
	w.fresh = nil
	w.round++
}

// Newest is the newest state of what changed longest ago and was not taken; ok
// is false when there is none.
func (w *Watcher[T]) Newest() (state T, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.offered = w.round
	if len(w.fresh) == 0 {
		return state, false
	}
	return w.known[w.fresh[0]], true
}

// Took notes that a state was taken that Newest told. Where there is a later
// one by now, that is still to come.
func (w *Watcher[T]) Took(state T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.fresh) == 0 || w.offered != w.round {
		return
	}
	if id := w.fresh[0]; w.newer(w.known[id], state) {
		w.fresh = append(w.fresh[1:], id)
	} else {
		w.fresh = w.fresh[1:]
	}
}

func (w *Watcher[T]) newer(told, known T) bool { return w.of.newer(told, known) }

// Changed receives when Newest may have something else to tell.
func (w *Watcher[T]) Changed() <-chan struct{} { return w.changed }
