package stock

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"portico/store/db"
)

// stockLoadTimeout is how long a load may take.
const stockLoadTimeout = 5 * time.Minute

// CacheStats is the state of the cache.
type CacheStats struct {
	Records    int           // records; 0 while reads go to the database
	Bytes      uint64        // memory of the records
	Age        time.Duration // time since the last poll; 0 while empty
	Loads      uint64        // complete loads since the start
	OverBudget bool          // the records exceed the budget
}

// CacheStats returns the state of the cache.
func (s *Service) CacheStats() (stats CacheStats) {
	cache := s.cache
	if cache == nil {
		return stats
	}
	cache.mu.RLock()
	defer cache.mu.RUnlock()
	stats.Loads, stats.OverBudget = cache.loads, cache.overBudget
	if cache.cells != nil {
		stats.Records, stats.Bytes, stats.Age = cache.cells.records(), uint64(cache.cells.bytes()), time.Since(cache.polledAt)
	}
	return stats
}

// Warm loads all stock into the cache now. Servers load it in the background.
func (s *Service) Warm(ctx context.Context) error {
	cache := s.cache
	if cache == nil {
		return nil
	}
	cache.loadMu.Lock()
	defer cache.loadMu.Unlock()
	cache.drop()
	return s.loadCache(ctx)
}

// loadCache loads all records from one snapshot and then applies the writes since; the
// newer version of a record wins. The old cells are used until then. Lanes are the topics over which
// writes of stock are announced. After a restore, several loads must agree before one is used (confirm).
func (s *Service) loadCache(ctx context.Context) error {
	cache, begun := s.cache, time.Now()
	cache.mu.Lock()
	cache.loading, cache.missedRows, cache.missedIncomplete = true, nil, false
	cache.mu.Unlock()
	cells := newStockCells()
	var lanes map[db.Topic]int64
	var found loadSummary
	err := s.db.Snapshot(ctx, func(read db.Session) (err error) {
		if lanes, err = stockLanes(ctx, read); err != nil {
			return err
		}
		if found.counted, _, err = db.One(ctx, read, db.Scalar[int64], `SELECT value FROM counter WHERE name = 'stock'`); err != nil {
			return err
		}
		_, err = db.Collect(ctx, read, func(rows *sql.Rows) (none struct{}, err error) {
			row, err := scanStockRow(rows)
			if err == nil {
				cells.put(row)
			}
			if uint64(cells.bytes()) > cache.budget {
				err = errOverBudget
			}
			return none, err
		}, `SELECT `+stockRowColumns+` FROM stock ORDER BY product_id`)
		return err
	})
	found.records = int64(cells.count)
	cache.mu.Lock()
	defer cache.mu.Unlock()
	cache.loading = false
	took := time.Since(begun)
	cache.loadAfter = time.Now().Add(max(maxStaleness, 4*took)) // so that loads that do not succeed take at most a fifth of the time
	missed := cache.missedRows
	cache.missedRows = nil
	if errors.Is(err, errOverBudget) {
		cache.cells = nil
		cache.markOverBudget()
		return nil
	}
	if err != nil || cache.missedIncomplete { // a write is not known that came meanwhile: the next load reads it
		return err
	}
	if !cache.confirm(found) {
		cache.cells = nil
		return nil
	}
	if cache.cells == nil { // else the lanes were followed meanwhile
		cache.feed.follow(lanes)
		cache.polledAt = begun
	}
	cache.cells = cells
	cache.loads++
	cache.loadAfter = time.Now().Add(max(reloadEvery, 100*took)) // and those that do a hundredth
	cache.markFits()
	cache.apply(missed)
	return nil
}

// loadCacheIfDue starts a load in the background if one is due. If one was due long ago, as on a
// server that was idle, reads go to the database until then.
func (s *Service) loadCacheIfDue() {
	cache := s.cache
	if cache == nil {
		return
	}
	cache.mu.Lock()
	overdue := time.Since(cache.loadAfter)
	due := overdue > 0
	if overdue > reloadEvery && !cache.loading {
		cache.cells = nil
	}
	cache.mu.Unlock()
	if !due || !cache.loadMu.TryLock() {
		return
	}
	s.db.Go(func(ctx context.Context) {
		defer cache.loadMu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, stockLoadTimeout)
		defer cancel()
		if err := s.loadCache(ctx); err != nil && !s.db.IsClosing() {
			s.db.Log.Warn("could not read the stock into memory", "error", err)
		}
	})
}
