package stock

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"portico/store/db"
)

// liveStock is the stock of all products in memory, outside of any release, so
// that reading it costs no statement.
//
// Its promise: it shows every write of this process from the moment it is
// acknowledged on, and those of other processes at most stockAge after their
// commit. Where it cannot keep that, it answers nothing and the database is
// asked: before it is loaded, when the records take more than the budget, when
// many are imported at once, and when the poll has not reached the database
// for that long.
type liveStock struct {
	budget uint64 // bytes

	mu    sync.RWMutex
	cells *stockCells // nil while there are none
	heard time.Time   // when the database was last asked what others wrote
	full  bool        // they do not fit
	rest  time.Time   // not to be loaded before

	load    sync.Mutex // held by the one that loads them
	loading bool
	missed  []stockRow // what this process wrote while they were loaded
	spoilt  bool       // whether more was written meanwhile than missed tells

	loads uint64 // how often they were read whole
	feed  stockFeed
}

// stockAge bounds how old an answer from memory can be.
const stockAge = time.Second

// stockLoadDeadline bounds how long it takes to load the cells.
const stockLoadDeadline = 5 * time.Minute

// mostMissed bounds what is remembered of writes while the cells are loaded.
const mostMissed = 1 << 16

// errFull says that the records take more than their budget.
var errFull = errors.New("more stock than there is room for")

// newLiveStock makes the store's; nil when it is to have none.
func newLiveStock(bytes uint64, lane db.Topic) *liveStock {
	if bytes == 0 {
		return nil
	}
	return &liveStock{budget: bytes, feed: stockFeed{lane: lane, own: map[int64]int64{}}}
}

// look calls see with the cells, unless they are not to be trusted.
func (l *liveStock) look(see func(*stockCells)) bool {
	if l == nil {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.cells == nil || time.Since(l.heard) > stockAge {
		return false
	}
	see(l.cells)
	return true
}

func (l *liveStock) loaded() bool {
	if l == nil {
		return false
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.cells != nil
}

// take lets the cells have what this process wrote, by a version of its lane.
// It may come in any order.
func (l *liveStock) take(rows []stockRow, taken laneVersion) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cells == nil && !l.loading {
		return
	}
	l.feed.own[taken.follows] = taken.version
	switch {
	case l.cells != nil:
		l.put(rows)
	case len(l.missed) < mostMissed:
		l.missed = append(l.missed, rows...)
	default:
		l.spoilt = true
	}
}

func (l *liveStock) put(rows []stockRow) {
	for _, row := range rows {
		l.cells.put(row)
	}
	l.cells.settle()
	if uint64(l.cells.bytes()) > l.budget {
		l.cells, l.full = nil, true
	}
}

// drop forgets the cells; they are loaded again when things have calmed down.
func (l *liveStock) drop() {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cells, l.missed, l.spoilt = nil, nil, true
	l.rest = time.Now().Add(stockAge)
}

// LiveStockStats is what is known of the stock in memory.
type LiveStockStats struct {
	Held  int           // records; 0 while the database is asked for them
	Bytes uint64        // that they take
	Age   time.Duration // since the database was last asked what others wrote; 0 while none are held
	Loads uint64        // how often all were read, since the store was opened
}

// LiveStockStats tells what is known of the stock in memory.
func (s *StockService) LiveStockStats() (stats LiveStockStats) {
	l := s.live
	if l == nil {
		return stats
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	stats.Loads = l.loads
	if l.cells != nil {
		stats.Held, stats.Bytes, stats.Age = l.cells.records(), uint64(l.cells.bytes()), time.Since(l.heard)
	}
	return stats
}

// WarmStock reads all stock into memory, where Config.StockBytes gives it
// room; what is there already is read again. Servers do so by themselves.
func (s *StockService) WarmStock(ctx context.Context) error {
	l := s.live
	if l == nil {
		return nil
	}
	l.load.Lock()
	defer l.load.Unlock()
	return s.loadStock(ctx)
}

// loadStock reads all records of one moment. What this process writes
// meanwhile is taken in at the end; of two states of a record the newer stays,
// whichever comes first.
func (s *StockService) loadStock(ctx context.Context) error {
	l, begun := s.live, time.Now()
	l.mu.Lock()
	l.cells, l.loading, l.missed, l.spoilt = nil, true, nil, false
	l.mu.Unlock()
	cells := newStockCells()
	var lanes map[db.Topic]int64
	err := s.db.Snapshot(ctx, func(read db.Session) (err error) {
		if lanes, err = stockLanes(ctx, read); err != nil {
			return err
		}
		_, err = db.Collect(ctx, read, func(rows *sql.Rows) (none struct{}, err error) {
			row, err := scanStockRow(rows)
			if err == nil {
				cells.put(row)
			}
			if uint64(cells.bytes()) > l.budget {
				err = errFull
			}
			return none, err
		}, `SELECT `+stockRowColumns+` FROM stock ORDER BY product_id`)
		return err
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.loading = false
	l.rest = time.Now().Add(max(stockAge, 4*time.Since(begun)))
	l.full = errors.Is(err, errFull)
	if l.full {
		s.db.Log.Info("stock is read from the database, because it takes more memory than it may", "bytes", l.budget)
		return nil
	}
	if err != nil || l.spoilt {
		return err
	}
	l.cells, l.heard = cells, begun
	l.loads++
	l.feed.follow(lanes)
	l.put(l.missed)
	l.missed = nil
	return nil
}

// warmStockSoon loads the cells beside the poll, where they are wanted.
func (s *StockService) warmStockSoon() {
	l := s.live
	if l == nil {
		return
	}
	l.mu.RLock()
	due := l.cells == nil && !l.full && time.Now().After(l.rest)
	l.mu.RUnlock()
	if !due || !l.load.TryLock() {
		return
	}
	s.db.Beside(func(ctx context.Context) {
		defer l.load.Unlock()
		ctx, cancel := context.WithTimeout(ctx, stockLoadDeadline)
		defer cancel()
		if err := s.loadStock(ctx); err != nil && !s.db.IsClosing() {
			s.db.Log.Warn("could not read the stock into memory", "error", err)
		}
	})
}
