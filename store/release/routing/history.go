package routing

import (
	"context"
	"sync"

	"portico/internal/dependency"
	"portico/store/db"
	"portico/store/release/segment"
)

// histories follow which release each catalog serves, and what differs from the
// release that it served before.
type histories struct {
	mu        sync.Mutex
	byCatalog map[string]*catalogHistory
}

// catalogHistory is the history of one catalog.
type catalogHistory struct {
	epoch   int64 // of the database
	release *segment.Release
	history *dependency.History
	state   dependency.State
	next    *nextTurn // for which caches are filled already; nil for none
}

// nextTurn is the turn of a release that a catalog may serve next.
type nextTurn struct {
	release *segment.Release
	state   dependency.State
	changes *dependency.Changes
}

// comparer returns what differs between two releases of a catalog.
type comparer func(ctx context.Context, from, to *segment.Release) (*dependency.Changes, error)

// advance returns the states of the releases that catalogs serve, by catalog. A
// restored database begins a new history.
func (h *histories) advance(ctx context.Context, in db.Session, epoch int64, served map[string]*segment.Release) (map[string]dependency.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	next := make(map[string]*catalogHistory, len(served))
	states := make(map[string]dependency.State, len(served))
	for id, release := range served {
		c := h.byCatalog[id]
		switch {
		case c == nil || c.epoch != epoch:
			c = &catalogHistory{epoch: epoch, release: release}
			c.history, c.state = dependency.NewHistory()
		case release.Same(c.release):
		case c.next != nil && release.Same(c.next.release):
			c = &catalogHistory{epoch: epoch, release: release, history: c.history, state: c.next.state}
		default:
			changes, err := segment.ChangesBetween(ctx, in, release.CatalogID, c.release.ID, release.ID)
			if err != nil {
				return nil, err
			}
			c.dropNext()
			c = &catalogHistory{epoch: epoch, release: release, history: c.history, state: c.history.Advance(changes)}
		}
		next[id], states[id] = c, c.state
	}
	h.byCatalog = next
	return states, nil
}

// prepare begins the turns of releases that catalogs are about to serve, for which caches are filled before
// advance returns their states. changed are the present states of these catalogs.
func (h *histories) prepare(ctx context.Context, epoch int64, served map[string]*segment.Release, between comparer) (states, changed map[string]dependency.State, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	states, changed = make(map[string]dependency.State, len(served)), map[string]dependency.State{}
	for id, release := range served {
		c := h.byCatalog[id]
		if c == nil || c.epoch != epoch {
			continue // nothing is cached
		}
		if release.Same(c.release) {
			states[id] = c.state
			continue
		}
		changed[id] = c.state
		if c.next == nil || !release.Same(c.next.release) {
			changes, err := between(ctx, c.release, release)
			if err != nil {
				return nil, nil, err
			}
			c.dropNext()
			c.next = &nextTurn{release, c.history.Advance(changes), changes}
		}
		states[id] = c.next.state
	}
	return states, changed, nil
}

// dropNext ends a turn that never came: its changes are undone, which is another turn.
func (c *catalogHistory) dropNext() {
	if c.next != nil {
		c.history.Advance(c.next.changes)
		c.next = nil
	}
}
