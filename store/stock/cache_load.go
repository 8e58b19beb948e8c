package stock

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"portico/store/db"
)

// stockLoadDeadline is the timeout of a load.
const stockLoadDeadline = 5 * time.Minute

// StockCacheStats is the state of the cache.
type StockCacheStats struct {
	Records    int           // records; 0 while reads go to the database
	Bytes      uint64        // memory of the records
	Age        time.Duration // time since the last poll; 0 while empty
	Loads      uint64        // complete loads since the start
	OverBudget bool          // the records exceed the budget
}

// CacheStats returns the state of the cache.
func (s *Service) CacheStats() (stats StockCacheStats) {
	l := s.cache
	if l == nil {
		return stats
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	stats.Loads, stats.OverBudget = l.loads, l.overBudget
	if l.cells != nil {
		stats.Records, stats.Bytes, stats.Age = l.cells.records(), uint64(l.cells.bytes()), time.Since(l.polledAt)
	}
	return stats
}

// Warm loads all stock into the cache now. Servers load it in the background.
func (s *Service) Warm(ctx context.Context) error {
	l := s.cache
	if l == nil {
		return nil
	}
	l.loadMu.Lock()
	defer l.loadMu.Unlock()
	l.drop()
	return s.loadCache(ctx)
}

// loadCache loads all records from one snapshot and then applies the writes since; the
// newer version of a record wins. The old cells are used until then.
func (s *Service) loadCache(ctx context.Context) error {
	l, begun := s.cache, time.Now()
	l.mu.Lock()
	l.loading, l.missedRows, l.missedIncomplete = true, nil, false
	l.mu.Unlock()
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
			if uint64(cells.bytes()) > l.budget {
				err = errOverBudget
			}
			return none, err
		}, `SELECT `+stockRowColumns+` FROM stock ORDER BY product_id`)
		return err
	})
	found.records = int64(cells.count)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loading = false
	took := time.Since(begun)
	l.loadAfter = time.Now().Add(max(maxStaleness, 4*took))
	missed := l.missedRows
	l.missedRows = nil
	if errors.Is(err, errOverBudget) {
		l.cells = nil
		l.markOverBudget()
		return nil
	}
	if err != nil || l.missedIncomplete {
		return err
	}
	if !l.confirm(found) {
		l.cells = nil
		return nil
	}
	if l.cells == nil { // else the lanes were followed meanwhile
		l.feed.follow(lanes)
		l.polledAt = begun
	}
	l.cells = cells
	l.loads++
	l.loadAfter = time.Now().Add(max(reloadEvery, 100*took))
	l.markFits()
	l.apply(missed)
	return nil
}

// loadCacheIfDue starts a load in the background if one is due. If one was due long ago, as on a
// server that was idle, reads go to the database until then.
func (s *Service) loadCacheIfDue() {
	l := s.cache
	if l == nil {
		return
	}
	l.mu.Lock()
	overdue := time.Since(l.loadAfter)
	due := overdue > 0
	if overdue > reloadEvery && !l.loading {
		l.cells = nil
	}
	l.mu.Unlock()
	if !due || !l.loadMu.TryLock() {
		return
	}
	s.db.Go(func(ctx context.Context) {
		defer l.loadMu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, stockLoadDeadline)
		defer cancel()
		if err := s.loadCache(ctx); err != nil && !s.db.IsClosing() {
			s.db.Log.Warn("could not read the stock into memory", "error", err)
		}
	})
}
