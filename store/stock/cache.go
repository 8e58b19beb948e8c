package stock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"portico/store/db"
)

// stockCache caches the stock of all products in memory, so that reads need no statement.
//
// It shows writes of this process as soon as they are acknowledged, and those of other
// processes at most maxStaleness after their commit. Whenever it cannot guarantee that, reads
// go to the database: before it is loaded, when the records exceed the budget, during
// large imports, when the poll has not reached the database for maxStaleness, and after a sign
// of another database until enough loads agree (requiredMatches).
//
// It is reloaded every reloadEvery without blocking readers, in case rows were written
// without publishing the change, as by COPY.
type stockCache struct {
	budget uint64 // bytes
	log    *slog.Logger

	mu         sync.RWMutex
	cells      *stockCells // nil while empty
	polledAt   time.Time   // last poll for the writes of others
	overBudget bool        // the records exceed the budget
	loadAfter  time.Time   // earliest next load

	suspect  bool          // one load is not enough to confirm
	lastLoad loadSummary   // last unconfirmed load
	matches  int           // consecutive loads that found the same
	pause    time.Duration // before the next confirming load

	loading          bool
	missedRows       []stockRow // rows written or read while loading
	missedIncomplete bool       // missedRows lacks some, so the load cannot be used

	loads uint64       // complete loads
	feed  laneProgress // how far the cells have followed the writes of all processes

	loadMu sync.Mutex // admits one loader; it guards no member: mu does
}

// maxStaleness is the largest staleness of a cached read.
const maxStaleness = time.Second

// reloadEvery is the least time between loads; they take at most 1% of the time.
const reloadEvery = 30 * time.Second

// retryOverBudget is how often to check whether the records fit the budget again.
const retryOverBudget = time.Minute

// loadSummary is what a load found: the number of records, and the number by the counter
// that writes maintain.
type loadSummary struct{ records, counted int64 }

// requiredMatches is how many consecutive loads must find the same. doubtful says that the database may be another one.
func (r loadSummary) requiredMatches(doubtful bool) int {
	switch {
	case r.records != r.counted: // a restore may be running, or an older server miscounted
		return 5
	case doubtful:
		return 2
	}
	return 1
}

// maxMissedRows bounds missedRows.
const maxMissedRows = 1 << 16

// errOverBudget means that the records exceed the budget.
var errOverBudget = errors.New("the stock exceeds its memory budget")

// newStockCache returns the cache; nil for 0 bytes.
func newStockCache(bytes uint64, log *slog.Logger) *stockCache {
	if bytes == 0 {
		return nil
	}
	return &stockCache{budget: bytes, log: log, feed: laneProgress{ownWrites: map[laneStep]int64{}}}
}

// view calls see with the cells and returns true, or returns false if they are stale.
func (c *stockCache) view(see func(*stockCells)) bool {
	if c == nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.cells == nil || time.Since(c.polledAt) > maxStaleness {
		return false
	}
	see(c.cells)
	return true
}

// viewRecorded is view, with the record of a context. If it returns false, the caller reads the
// database.
func (c *stockCache) viewRecorded(ctx context.Context, see func(*stockCells, *Reads)) bool {
	reads := readsOf(ctx)
	if reads == nil {
		return c.view(func(cells *stockCells) { see(cells, nil) })
	}
	reads.mu.Lock()
	defer reads.mu.Unlock()
	if c.view(func(cells *stockCells) { see(cells, reads.begin(cells.generation, cells.structure)) }) {
		return true
	}
	reads.unknown = true
	return false
}

// loaded reports whether the cache has cells, even stale ones.
func (c *stockCache) loaded() bool {
	if c == nil {
		return false
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.cells != nil
}

// applyOwn applies rows that this process wrote under a version of a lane, in any order.
func (c *stockCache) applyOwn(rows []stockRow, taken laneVersion) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cells == nil && !c.loading {
		return
	}
	c.feed.ownWrites[laneStep{taken.lane, taken.follows}] = taken.version
	c.recordMissed(rows)
	if c.cells != nil {
		c.apply(rows)
	}
}

// skipOwn skips the versions of a lane that this process wrote after the last one seen, whose rows applyOwn has applied. It
// returns the version reached, at most upTo.
func (c *stockCache) skipOwn(lane db.Topic, upTo int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	seen := c.feed.seen[lane]
	for {
		step := laneStep{lane, seen}
		version, wrote := c.feed.ownWrites[step]
		if !wrote || version > upTo {
			break
		}
		delete(c.feed.ownWrites, step)
		seen = version
	}
	c.feed.seen[lane] = seen
	return seen
}

// follow applies rows, which bring the cells to the lanes' versions. It empties the cache if a lane is gone.
func (c *stockCache) follow(rows []stockRow, lanes map[db.Topic]int64, asked time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cells == nil { // dropped meanwhile
		return
	}
	for lane := range c.feed.seen {
		if _, there := lanes[lane]; !there { // the database was replaced
			c.cells, c.missedIncomplete = nil, true
			return
		}
	}
	c.feed.follow(lanes)
	c.recordMissed(rows)
	c.apply(rows)
	c.polledAt = asked
}

// recordMissed records rows for the load in progress.
func (c *stockCache) recordMissed(rows []stockRow) {
	switch {
	case !c.loading:
	case len(c.missedRows) < maxMissedRows:
		c.missedRows = append(c.missedRows, rows...)
	default:
		c.missedIncomplete = true
	}
}

// apply puts rows into the cells. It empties the cache if they exceed the budget then.
func (c *stockCache) apply(rows []stockRow) {
	for _, row := range rows {
		c.cells.put(row)
	}
	c.cells.refreshTimes()
	if uint64(c.cells.bytes()) > c.budget {
		c.cells = nil
		c.markOverBudget()
	}
}

// markOverBudget records that the records exceed the budget, logs it once, and puts off the next load.
func (c *stockCache) markOverBudget() {
	c.loadAfter = time.Now().Add(retryOverBudget)
	if !c.overBudget {
		c.overBudget = true
		c.log.Warn("the stock of all products exceeds --stock-cache-bytes; reading it from the database until it fits, checked every minute", "bytes", c.budget)
	}
}

// markFits records that the records fit, and logs it if they did not before.
func (c *stockCache) markFits() {
	if c.overBudget {
		c.overBudget = false
		c.log.Info("the stock of all products fits --stock-cache-bytes again; reading it from memory", "bytes", c.budget)
	}
}

// drop empties the cache until the next load, after maxStaleness.
func (c *stockCache) drop() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cells, c.missedRows, c.missedIncomplete = nil, nil, true
	c.loadAfter = time.Now().Add(maxStaleness)
}

// requireConfirmation empties the cache until two loads agree, or five if they find another number of records than is counted.
func (c *stockCache) requireConfirmation() {
	if c == nil {
		return
	}
	c.drop()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.suspect, c.matches, c.pause = true, 0, maxStaleness
}

// confirm reports whether a load may be used because enough consecutive ones agree.
// Otherwise it schedules the next one, after a pause that doubles.
func (c *stockCache) confirm(found loadSummary) bool {
	if c.matches == 0 || found != c.lastLoad {
		c.lastLoad, c.matches, c.pause = found, 0, maxStaleness
	}
	if c.matches++; c.matches < found.requiredMatches(c.suspect) {
		c.loadAfter = time.Now().Add(c.pause)
		c.pause *= 2
		return false
	}
	c.suspect, c.matches = false, 0
	return true
}
