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

// catalogHistory is the history of one catalog. It never changes: advance makes another one.
type catalogHistory struct {
	epoch   int64            // of the database
	release *segment.Release // that the catalog serves
	history *dependency.History
	state   dependency.State // of the history at that release
}

// advance follows the catalogs to the releases that they serve now, by catalog, and returns the states of these. A catalog
// that is new, or did not serve one before, begins a new history. So do all in a restored database, which has another epoch.
// If it fails, nothing has advanced but histories that the next call advances again.
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
