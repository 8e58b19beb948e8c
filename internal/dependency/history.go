package dependency

import "sync"

// History knows when each key last changed. Each change of the data is a turn, also one that
// brings back an earlier state. It is safe for concurrent use.
type History struct {
	mu      sync.RWMutex
	turn    uint64
	all     uint64         // the last turn in which everything changed, or was forgotten
	changed map[Key]uint64 // the last turn in which a key changed, if after all
}

// State is the data at one turn of its history. The zero value is data that never changes.
type State struct {
	history *History
	turn    uint64
}

// maxRemembered is the largest number of keys that a History remembers, about 10 MB.
const maxRemembered = 4 * MaxChanges

// NewHistory returns a history in its first state.
func NewHistory() (*History, State) {
	h := &History{turn: 1, all: 1, changed: map[Key]uint64{}}
	return h, State{h, 1}
}

// Advance begins the next turn, which differs from the one before by changes.
func (h *History) Advance(changes *Changes) State {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.turn++
	if changes.everything || len(h.changed)+len(changes.keys) > maxRemembered {
		h.all = h.turn
		clear(h.changed)
	}
	for key := range changes.keys {
		h.changed[key] = h.turn
	}
	return State{h, h.turn}
}

// unchanged reports whether none of the keys changed after a turn.
func (h *History) unchanged(keys []Key, after uint64) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if h.all > after {
		return false
	}
	for _, key := range keys {
		if h.changed[key] > after {
			return false
		}
	}
	return true
}

// Turn returns the number of the state's turn.
func (s State) Turn() uint64 { return s.turn }

// Changing reports whether the state belongs to a history.
func (s State) Changing() bool { return s.history != nil }
