package stock

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
)

// Who writes stock leaves word of it in its own transaction, for the other
// processes' liveStock: a line in stock_change names the products, by a version
// of a lane, the newest of which stands in change. The lane's row is locked until
// the commit, so its lines become visible in the order of their versions, and one
// that has seen a version has seen all before it.
//
// A write takes its lane last, and takes one that nobody holds, so it never waits
// for a lane: a server that stops in the middle of a write keeps its lane, and
// others pass it over. Where none is free, the write adds one. So there are no
// more lanes than there were writes that committed at the same time. A server
// prefers the lane that it took last.
//
// Each line tells the version that it follows. Versions are times, so that one
// that was lost, with a standby that took over or a backup that was restored,
// does not come again with another content: the line after it follows an
// earlier one, and whoever had seen it reads everything again.

// laneVersion is a version of a lane, and the one that it follows; 0 for none.
type laneVersion struct {
	lane             db.Topic
	version, follows int64
}

// stockFeed is what a process knows of the lanes.
type stockFeed struct {
	seen map[db.Topic]int64 // how far each was followed
	own  map[laneStep]int64 // versions that this process wrote, by those that they follow
}

// laneStep is where a lane goes on after a version.
type laneStep struct {
	lane  db.Topic
	after int64
}

// follow notes how far the lanes were followed.
func (f *stockFeed) follow(lanes map[db.Topic]int64) {
	f.seen = lanes
	maps.DeleteFunc(f.own, func(step laneStep, version int64) bool { return version <= lanes[step.lane] })
}

const (
	stockTopics = "stock/" // begins the topic of each lane

	manyStocks       = 512  // more products than that in one write are not named
	followedProducts = 8192 // more products than that at one look are not read one by one
	keptChanges      = 4096 // of a lane; who is further behind reads everything again
)

// stockLanes reads the lanes' versions.
func stockLanes(ctx context.Context, in db.Session) (map[db.Topic]int64, error) {
	lanes := map[db.Topic]int64{}
	_, err := db.Collect(ctx, in, func(rows *sql.Rows) (none struct{}, err error) {
		var lane db.Topic
		var version int64
		err = rows.Scan(&lane, &version)
		lanes[lane] = version
		return none, err
	}, `SELECT topic, version FROM change WHERE topic >= $1 AND topic < $2`, stockTopics, stockTopics+"~")
	return lanes, err
}

// takeLane makes this write the only one of a lane until it commits. It waits for
// nobody. It comes last in a transaction.
func (s *StockService) takeLane(ctx context.Context, t *db.Tx) (taken laneVersion, err error) {
	preferred, _ := s.lane.Load().(db.Topic)
	scan := func(rows *sql.Rows) (v laneVersion, err error) {
		return v, rows.Scan(&v.lane, &v.version, &v.follows)
	}
	taken, found, err := db.One(ctx, t.Session, scan, `
		UPDATE change SET version = `+t.LaterSQL("change.version + 1")+`, follows = change.version
		WHERE topic = (
		    SELECT topic FROM change AS lane WHERE topic >= $1 AND topic < $2
		    ORDER BY CASE WHEN topic = $3 THEN 0 ELSE 1 END, topic LIMIT 1`+t.SkipLocked("lane")+`)
		RETURNING topic, version, follows`, stockTopics, stockTopics+"~", string(preferred))
	if err == nil && !found { // there is none, or others hold them all
		taken, _, err = db.One(ctx, t.Session, scan, `
			INSERT INTO change (topic, version, follows) VALUES ($1, `+t.LaterSQL("1")+`, 0)
			RETURNING topic, version, follows`, fmt.Sprintf("%s%016x", stockTopics, rand.Uint64()))
	}
	if err == nil && taken.lane != preferred {
		t.AfterCommit(func() { s.lane.Store(taken.lane) })
	}
	t.SetVersion(taken.lane, taken.version)
	return taken, err
}

// tellStocks takes a lane, and leaves word on it of the products whose stock a
// write changed. It comes last in a transaction.
func (s *StockService) tellStocks(ctx context.Context, t *db.Tx, products []string) (taken laneVersion, err error) {
	if taken, err = s.takeLane(ctx, t); err != nil {
		return taken, err
	}
	names := strings.Join(products, " ")
	if len(products) > manyStocks {
		names = "*"
	}
	if _, err := t.Exec(ctx, `INSERT INTO stock_change (lane, version, follows, products) VALUES ($1, $2, $3, $4)`,
		string(taken.lane), taken.version, taken.follows, names); err != nil {
		return taken, err
	}
	if s.told.Add(1)%(keptChanges/16) > 0 {
		return taken, nil
	}
	_, err = t.Exec(ctx, `
		DELETE FROM stock_change WHERE lane = $1 AND version <= (
		    SELECT version FROM stock_change WHERE lane = $1 ORDER BY version DESC LIMIT 1 OFFSET $2)`, string(taken.lane), keptChanges)
	return taken, err
}

// TellImported leaves word of the products whose stock an import changed. It
// comes last in the import's transaction.
func TellImported(ctx context.Context, s *StockService, t *db.Tx, products []string) error {
	if len(products) == 0 {
		return nil
	}
	t.AfterCommit(s.live.drop)
	_, err := s.tellStocks(ctx, t, products)
	return err
}

// Follow takes in what others wrote, up to the lanes' versions as they
// were asked for at a time. Other topics are dropped from them.
func Follow(ctx context.Context, s *StockService, lanes map[db.Topic]int64, asked time.Time) error {
	maps.DeleteFunc(lanes, func(name db.Topic, _ int64) bool { return !strings.HasPrefix(string(name), stockTopics) })
	l := s.live
	s.warmStockSoon()
	if !l.loaded() {
		return s.unfollowedStock(ctx, lanes)
	}
	var products []string
	for lane, version := range lanes {
		changed, told, err := s.stockChanges(ctx, lane, l.passOwn(lane, version), version)
		if err != nil {
			return err
		}
		if products = append(products, changed...); !told || len(products) > followedProducts {
			l.drop()
			return s.unfollowedStock(ctx, lanes)
		}
	}
	var rows []stockRow
	if err := store.Chunked(store.Unique(products), 512, func(ids []string) error {
		found, err := stockStatesOf(ctx, s.db.Reader, ids)
		rows = append(rows, found...)
		return err
	}); err != nil {
		return err
	}
	l.follow(rows, lanes, asked)
	return s.followedStock(ctx, lanes, rows)
}

// stockChanges reads whose stock changed on a lane after one version and up to
// another. They are not told when there were too many to name, when they are
// swept already, and when the lane is another than was followed, in a database
// that was restored or has lost its last writes.
func (s *StockService) stockChanges(ctx context.Context, lane db.Topic, after, upTo int64) (products []string, told bool, err error) {
	if after >= upTo {
		return nil, after == upTo, nil
	}
	type line struct {
		laneVersion
		products string
	}
	lines, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (l line, err error) {
		return l, rows.Scan(&l.version, &l.follows, &l.products)
	}, `SELECT version, follows, products FROM stock_change WHERE lane = $1 AND version > $2 AND version <= $3 ORDER BY version`, string(lane), after, upTo)
	if err != nil {
		return nil, false, err
	}
	for _, l := range lines {
		if l.follows != after || l.products == "*" {
			return nil, false, nil
		}
		after = l.version
		products = append(products, strings.Fields(l.products)...)
	}
	return products, after == upTo, nil
}

// passOwn is how far a lane was followed, up to a version, given that what
// this process wrote is known to it.
func (l *liveStock) passOwn(lane db.Topic, upTo int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.feed.seen[lane]
	for {
		step := laneStep{lane, seen}
		version, wrote := l.feed.own[step]
		if !wrote || version > upTo {
			break
		}
		delete(l.feed.own, step)
		seen = version
	}
	l.feed.seen[lane] = seen
	return seen
}

// follow takes rows in, which bring the cells to some versions.
func (l *liveStock) follow(rows []stockRow, lanes map[db.Topic]int64, asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cells == nil { // they were dropped meanwhile
		return
	}
	for lane := range l.feed.seen {
		if _, there := lanes[lane]; !there { // another database than before
			l.cells, l.spoilt = nil, true
			return
		}
	}
	l.feed.follow(lanes)
	l.miss(rows)
	l.put(rows)
	l.heard = asked
}
