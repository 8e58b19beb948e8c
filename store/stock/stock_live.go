package stock

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
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
// many are imported at once, when the poll has not reached the database for
// that long, and after a sign of another database until two reads agree.
//
// What is held is read anew every reloadEvery, beside those who read it, so
// that it does not stay wrong where rows were written without word of it, as
// by COPY.
type liveStock struct {
	budget uint64 // bytes
	log    *slog.Logger

	mu    sync.RWMutex
	cells *stockCells // nil while there are none
	heard time.Time   // when the database was last asked what others wrote
	full  bool        // they do not fit
	rest  time.Time   // not to be loaded, or loaded anew, before

	doubtful bool          // the next read is not enough by itself
	last     stockReading  // the last read that was not used
	agreed   int           // reads in turn that found the same
	pause    time.Duration // between two reads until they agree

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

// reloadEvery is how long cells are used before all records are read anew; it
// is longer where that takes more than a hundredth of the time.
const reloadEvery = 30 * time.Second

// fullEvery is how often it is tried whether the records fit by now.
const fullEvery = time.Minute

// stockReading is what a read of all records found: how many there are, and how
// many there should be by the counter that writes keep.
type stockReading struct{ records, counted int64 }

// agreeing is how many reads in turn must find the same.
func (r stockReading) agreeing(doubtful bool) int {
	switch {
	case r.records != r.counted: // a restore may be loading them; or an older server miscounted
		return 5
	case doubtful:
		return 2
	}
	return 1
}

// mostMissed bounds what is remembered of writes while the cells are loaded.
const mostMissed = 1 << 16

// errFull says that the records take more than their budget.
var errFull = errors.New("more stock than there is room for")

// newLiveStock makes the store's; nil when it is to have none.
func newLiveStock(bytes uint64, log *slog.Logger) *liveStock {
	if bytes == 0 {
		return nil
	}
	return &liveStock{budget: bytes, log: log, feed: stockFeed{own: map[laneStep]int64{}}}
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

// take lets the cells have what this process wrote, by a version of the lane that its write took.
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
	l.feed.own[laneStep{taken.lane, taken.follows}] = taken.version
	l.miss(rows)
	if l.cells != nil {
		l.put(rows)
	}
}

// miss remembers rows for the cells that are being loaded.
func (l *liveStock) miss(rows []stockRow) {
	switch {
	case !l.loading:
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
		l.cells = nil
		l.overflow()
	}
}

// overflow notes that the records do not fit, and says so once.
func (l *liveStock) overflow() {
	l.rest = time.Now().Add(fullEvery)
	if !l.full {
		l.full = true
		l.log.Warn("the stock of all products takes more memory than --stock-cache-bytes; stock is read from the database until it fits, which is tried every minute", "bytes", l.budget)
	}
}

// fits notes that the records fit, again where they did not.
func (l *liveStock) fits() {
	if l.full {
		l.full = false
		l.log.Info("the stock of all products fits into --stock-cache-bytes again; it is read from memory", "bytes", l.budget)
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

// doubt drops the cells until two reads agree.
func (l *liveStock) doubt() {
	if l == nil {
		return
	}
	l.drop()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.doubtful, l.agreed, l.pause = true, 0, stockAge
}

// confirmed tells whether a read may be used: it agrees with as many in turn
// before it as it takes. Until then the next one is made after a pause, which
// doubles.
func (l *liveStock) confirmed(found stockReading) bool {
	if l.agreed == 0 || found != l.last {
		l.last, l.agreed, l.pause = found, 0, stockAge
	}
	if l.agreed++; l.agreed < found.agreeing(l.doubtful) {
		l.rest = time.Now().Add(l.pause)
		l.pause *= 2
		return false
	}
	l.doubtful, l.agreed = false, 0
	return true
}

// LiveStockStats is what is known of the stock in memory.
type LiveStockStats struct {
	Held  int           // records; 0 while the database is asked for them
	Bytes uint64        // that they take
	Age   time.Duration // since the database was last asked what others wrote; 0 while none are held
	Loads uint64        // how often all were read, since the store was opened
	Full  bool          // they take more than their budget, so that none are held
}

// LiveStockStats tells what is known of the stock in memory.
func (s *StockService) LiveStockStats() (stats LiveStockStats) {
	l := s.live
	if l == nil {
		return stats
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	stats.Loads, stats.Full = l.loads, l.full
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
	l.drop()
	return s.loadStock(ctx)
}

// loadStock reads all records of one moment. What is written meanwhile is taken
// in at the end; of two states of a record the newer stays, whichever comes
// first. Cells that are held are used until then.
func (s *StockService) loadStock(ctx context.Context) error {
	l, begun := s.live, time.Now()
	l.mu.Lock()
	l.loading, l.missed, l.spoilt = true, nil, false
	l.mu.Unlock()
	cells := newStockCells()
	var lanes map[db.Topic]int64
	var found stockReading
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
				err = errFull
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
	l.rest = time.Now().Add(max(stockAge, 4*took))
	missed := l.missed
	l.missed = nil
	if errors.Is(err, errFull) {
		l.cells = nil
		l.overflow()
		return nil
	}
	if err != nil || l.spoilt {
		return err
	}
	if !l.confirmed(found) {
		l.cells = nil
		return nil
	}
	if l.cells == nil { // else the lanes were followed meanwhile
		l.feed.follow(lanes)
		l.heard = begun
	}
	l.cells = cells
	l.loads++
	l.rest = time.Now().Add(max(reloadEvery, 100*took))
	l.fits()
	l.put(missed)
	return nil
}

// warmStockSoon loads the cells beside the poll, where they are wanted.
func (s *StockService) warmStockSoon() {
	l := s.live
	if l == nil {
		return
	}
	l.mu.RLock()
	due := time.Now().After(l.rest)
	l.mu.RUnlock()
	if !due || !l.load.TryLock() {
		return
	}
	s.db.Go(func(ctx context.Context) {
		defer l.load.Unlock()
		ctx, cancel := context.WithTimeout(ctx, stockLoadDeadline)
		defer cancel()
		if err := s.loadStock(ctx); err != nil && !s.db.IsClosing() {
			s.db.Log.Warn("could not read the stock into memory", "error", err)
		}
	})
}
