package db

import (
	"errors"
	"log/slog"
	"sync"
	"time"

	"portico/store"
)

// troubleOf is the trouble that an engine's error is a sign of; nil for a fault
// of the statement, or of ours.
func troubleOf(f fault) error {
	switch f {
	case faultMissing:
		return store.ErrReplaced
	case faultAway, faultRetry: // what a write loses to is no trouble, and told before
		return store.ErrAway
	case faultSlow, faultEnded:
		return store.ErrSlow
	case faultHeld:
		return store.ErrHeld
	case faultReadOnly:
		return store.ErrReadOnly
	case faultFull:
		return store.ErrNoSpace
	}
	return nil
}

// isTrouble tells whether a write failed for a reason that is none of its own.
func isTrouble(err error) bool {
	for _, kind := range []error{store.ErrClosed, store.ErrLeft, store.ErrReplaced, store.ErrAway, store.ErrSlow, store.ErrHeld, store.ErrReadOnly, store.ErrNoSpace} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// troubleEvery is how often one trouble is logged, however many meet it.
const troubleEvery = 10 * time.Second

// troubles logs why a database does not answer: the first cause of each kind at
// once, and later how many there were since.
type troubles struct {
	log *slog.Logger

	mu   sync.Mutex
	seen map[error]*trouble
}

type trouble struct {
	told  time.Time // last
	since int       // how many came after that
	last  error
}

// note logs a cause, or counts it.
func (t *troubles) note(kind, cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.seen[kind]
	if known == nil {
		known = &trouble{}
		t.seen[kind] = known
	}
	known.since++
	known.last = cause
	if time.Since(known.told) >= troubleEvery {
		known.tell(t.log, kind)
	}
}

// due tells whether the next trouble of a kind is logged at once.
func (t *troubles) due(kind error) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	known := t.seen[kind]
	return known == nil || time.Since(known.told) >= troubleEvery
}

// tellRest logs what was only counted, when it is time to.
func (t *troubles) tellRest() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for kind, known := range t.seen {
		if known.since > 0 && time.Since(known.told) >= troubleEvery {
			known.tell(t.log, kind)
		}
	}
}

func (known *trouble) tell(log *slog.Logger, kind error) {
	log.Error(kind.Error(), "times", known.since, "error", known.last)
	known.told, known.since, known.last = time.Now(), 0, nil
}
