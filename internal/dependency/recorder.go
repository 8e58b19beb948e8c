package dependency

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Recorder collects what a response is made from. The zero value is ready to use. Nil is for a
// response that is not cached: it collects nothing. It is safe for concurrent use.
type Recorder struct {
	mu         sync.Mutex
	keys       []Key // some of them repeated
	everything bool  // every change; keys is nil then
}

// maxKeys is the largest number of keys of one response. One with more is made again after each
// change.
const maxKeys = 4096

// Add records that the response depends on a key. Call it before reading from a cache, and also
// for what turns out not to exist.
func (r *Recorder) Add(key Key) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(key)
}

// AddNames records several names of a kind.
func (r *Recorder) AddNames(kind byte, names []string) {
	if r == nil || len(names) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, name := range names {
		r.add(NewKey(kind, name))
	}
}

// add appends a key, and removes repeated ones now and then. The caller holds mu.
func (r *Recorder) add(key Key) {
	if r.everything {
		return
	}
	r.keys = append(r.keys, key)
	if len(r.keys) > 2*maxKeys {
		r.compact()
		if len(r.keys) > maxKeys {
			r.keys, r.everything = nil, true
		}
	}
}

// compact sorts the keys and removes repeated ones.
func (r *Recorder) compact() {
	slices.Sort(r.keys)
	r.keys = slices.Compact(r.keys)
}

// AddEverything records that the response depends on every change.
func (r *Recorder) AddEverything() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.keys, r.everything = nil, true
}

// Keys returns the keys that were recorded so far, in order; false if there are more than atMost, or
// if the recorder is nil.
func (r *Recorder) Keys(atMost int) ([]Key, bool) {
	if r == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compact()
	if r.everything || len(r.keys) > atMost {
		return nil, false
	}
	return slices.Clone(r.keys), true
}

// Dependencies returns what was recorded so far, for a response that was made in a state. It is nil
// without a history, where such a response holds for ever, and for a nil recorder.
func (r *Recorder) Dependencies(state State) *Dependencies {
	if state.history == nil || r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.compact()
	d := &Dependencies{history: state.history, everything: r.everything || len(r.keys) > maxKeys}
	if !d.everything {
		d.keys = slices.Clone(r.keys)
	}
	d.turn.Store(state.turn)
	return d
}

// Dependencies are what a response was made from. They are safe for concurrent use.
type Dependencies struct {
	history    *History
	keys       []Key         // sorted
	everything bool          // every change
	turn       atomic.Uint64 // the latest turn for which the response is known to hold
}

// Size returns the memory of the dependencies in bytes.
func (d *Dependencies) Size() int {
	if d == nil {
		return 0
	}
	return 64 + 8*cap(d.keys) // 64: the struct
}

// HoldIn reports whether nothing that the response was made from differs in a state. The state may
// be older than the turn in which the response is known to hold, which a newer one advances. Nil
// dependencies hold in all states.
func (d *Dependencies) HoldIn(state State) bool {
	if d == nil {
		return true
	}
	if d.history != state.history {
		return false
	}
	turn := d.turn.Load()
	if turn == state.turn {
		return true
	}
	if d.everything || !d.history.unchanged(d.keys, min(turn, state.turn)) {
		return false
	}
	for state.turn > turn && !d.turn.CompareAndSwap(turn, state.turn) {
		turn = d.turn.Load()
	}
	return true
}
