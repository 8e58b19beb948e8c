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
}

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
		default:
			changes, err := segment.ChangesBetween(ctx, in, release.CatalogID, c.release.ID, release.ID)
			if err != nil {
				return nil, err
			}
			c = &catalogHistory{epoch: epoch, release: release, history: c.history, state: c.history.Advance(changes)}
		}
		next[id], states[id] = c, c.state
	}
	h.byCatalog = next
	return states, nil
}
