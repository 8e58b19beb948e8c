package stock

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"portico/store/db"
)

// skipOwn skips the versions of a lane that this process wrote, and returns the version
// reached, at most upTo.
func (l *stockCache) skipOwn(lane db.Topic, upTo int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.feed.seen[lane]
	for {
		step := laneStep{lane, seen}
		version, wrote := l.feed.ownWrites[step]
		if !wrote || version > upTo {
			break
		}
		delete(l.feed.ownWrites, step)
		seen = version
	}
	l.feed.seen[lane] = seen
	return seen
}

// follow applies rows, which bring the cells to the lanes' versions.
func (l *stockCache) follow(rows []stockRow, lanes map[db.Topic]int64, asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cells == nil { // dropped meanwhile
		return
	}
	for lane := range l.feed.seen {
		if _, there := lanes[lane]; !there { // the database was replaced
			l.cells, l.missedIncomplete = nil, true
			return
		}
	}
	l.feed.follow(lanes)
	l.recordMissed(rows)
	l.apply(rows)
	l.polledAt = asked
}

// stockCache caches the stock of all products in memory, so that reads need no statement.
//
// It shows writes of this process as soon as they are acknowledged, and those of other
// processes at most maxStaleness after their commit. Whenever it cannot guarantee that, reads
// go to the database: before it is loaded, when the records exceed the budget, during
// large imports, when the poll has not reached the database for maxStaleness, and after a sign
// of another database until two reads agree.
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

	suspect  bool          // one read is not enough to confirm
	lastLoad loadSummary   // last unconfirmed read
	matches  int           // consecutive reads that found the same
	pause    time.Duration // before the next confirming read

	loadMu           sync.Mutex // held by the loader
	loading          bool
	missedRows       []stockRow // rows written or read while loading
	missedIncomplete bool       // missed is incomplete

	loads uint64 // complete loads
	feed  laneProgress
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

// requiredMatches is how many consecutive loads must find the same.
func (r loadSummary) requiredMatches(doubtful bool) int {
	switch {
	case r.records != r.counted: // a restore may be running, or an older server miscounted
		return 5
	case doubtful:
		return 2
	}
	return 1
}

// maxMissedRows bounds missed.
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
func (l *stockCache) view(see func(*stockCells)) bool {
	if l == nil {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.cells == nil || time.Since(l.polledAt) > maxStaleness {
		return false
	}
	see(l.cells)
	return true
}

// viewRecorded is view, with the record of a context. If it returns false, the caller reads the
// database.
func (l *stockCache) viewRecorded(ctx context.Context, see func(*stockCells, *Reads)) bool {
	reads := readsOf(ctx)
	if reads == nil {
		return l.view(func(cells *stockCells) { see(cells, nil) })
	}
	reads.mu.Lock()
	defer reads.mu.Unlock()
	if l.view(func(cells *stockCells) { see(cells, reads.begin(cells.generation, cells.structure)) }) {
		return true
	}
	reads.unknown = true
	return false
}

func (l *stockCache) loaded() bool {
	if l == nil {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.cells != nil
}

// applyOwn applies rows that this process wrote under a version of a lane, in any order.
func (l *stockCache) applyOwn(rows []stockRow, taken laneVersion) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cells == nil && !l.loading {
		return
	}
	l.feed.ownWrites[laneStep{taken.lane, taken.follows}] = taken.version
	l.recordMissed(rows)
	if l.cells != nil {
		l.apply(rows)
	}
}

// recordMissed records rows for the load in progress.
func (l *stockCache) recordMissed(rows []stockRow) {
	switch {
	case !l.loading:
	case len(l.missedRows) < maxMissedRows:
		l.missedRows = append(l.missedRows, rows...)
	default:
		l.missedIncomplete = true
	}
}

func (l *stockCache) apply(rows []stockRow) {
	for _, row := range rows {
		l.cells.put(row)
	}
	l.cells.refreshTimes()
	if uint64(l.cells.bytes()) > l.budget {
		l.cells = nil
		l.markOverBudget()
	}
}

// markOverBudget records that the records exceed the budget, and logs it once.
func (l *stockCache) markOverBudget() {
	l.loadAfter = time.Now().Add(retryOverBudget)
	if !l.overBudget {
		l.overBudget = true
		l.log.Warn("the stock of all products exceeds --stock-cache-bytes; reading it from the database until it fits, checked every minute", "bytes", l.budget)
	}
}

// markFits records that the records fit, and logs it if they did not before.
func (l *stockCache) markFits() {
	if l.overBudget {
		l.overBudget = false
		l.log.Info("the stock of all products fits --stock-cache-bytes again; reading it from memory", "bytes", l.budget)
	}
}

// drop empties the cache until the next load, after maxStaleness.
func (l *stockCache) drop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cells, l.missedRows, l.missedIncomplete = nil, nil, true
	l.loadAfter = time.Now().Add(maxStaleness)
}

// requireConfirmation empties the cache until two loads agree.
func (l *stockCache) requireConfirmation() {
	if l == nil {
		return
	}
	l.drop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.suspect, l.matches, l.pause = true, 0, maxStaleness
}

// confirm reports whether a load may be used because enough consecutive ones agree.
// Otherwise it schedules the next one, after a pause that doubles.
func (l *stockCache) confirm(found loadSummary) bool {
	if l.matches == 0 || found != l.lastLoad {
		l.lastLoad, l.matches, l.pause = found, 0, maxStaleness
	}
	if l.matches++; l.matches < found.requiredMatches(l.suspect) {
		l.loadAfter = time.Now().Add(l.pause)
		l.pause *= 2
		return false
	}
	l.suspect, l.matches = false, 0
	return true
}
