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
// of its lane, the newest of which stands in change. The lane's row is locked
// until the commit, so its lines become visible in the order of their
// versions, and one that has seen a version has seen all before it. Servers
// have lanes of their own, so that they do not wait for each other.
//
// Each line tells the version that it follows. Versions are times, so that one
// that was lost, with a standby that took over or a backup that was restored,
// does not come again with another content: the line after it follows an
// earlier one, and whoever had seen it reads everything again.

// laneVersion is a version of a lane, and the one that it follows; 0 for none.
type laneVersion struct{ version, follows int64 }

// stockFeed is what a process knows of the lanes.
type stockFeed struct {
	lane db.Topic           // this process's own
	seen map[db.Topic]int64 // how far each was followed
	own  map[int64]int64    // versions of the own lane that this process wrote, by those that they follow
}

// follow notes how far the lanes were followed.
func (f *stockFeed) follow(lanes map[db.Topic]int64) {
	f.seen = lanes
	maps.DeleteFunc(f.own, func(_, version int64) bool { return version <= lanes[f.lane] })
}

const (
	stockTopics = "stock/" // begins the topic of each lane
	importLane  = db.Topic(stockTopics + "import")
	serverLanes = 16

	manyStocks       = 512  // more products than that in one write are not named
	followedProducts = 8192 // more products than that at one look are not read one by one
	keptChanges      = 4096 // of a lane; who is further behind reads everything again
)

func newStockLane() db.Topic {
	return db.Topic(fmt.Sprintf("%s%x", stockTopics, rand.IntN(serverLanes)))
}

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

// takeLane makes this write the only one of its lane until it commits.
func takeLane(ctx context.Context, t *db.Tx, lane db.Topic) (taken laneVersion, err error) {
	taken, _, err = db.One(ctx, t.Session, func(rows *sql.Rows) (v laneVersion, err error) {
		return v, rows.Scan(&v.version, &v.follows)
	}, `
		INSERT INTO change (topic, version, follows) VALUES ($1, `+t.LaterSQL("1")+`, 0)
		ON CONFLICT (topic) DO UPDATE SET version = `+t.LaterSQL("change.version + 1")+`, follows = change.version
		RETURNING version, follows`, string(lane))
	return taken, err
}

// tellStocks leaves word of the products whose stock a write changed, on the
// lane that it has taken.
func tellStocks(ctx context.Context, s *StockService, t *db.Tx, lane db.Topic, taken laneVersion, products []string) error {
	names := strings.Join(products, " ")
	if len(products) > manyStocks {
		names = "*"
	}
	if _, err := t.Exec(ctx, `INSERT INTO stock_change (lane, version, follows, products) VALUES ($1, $2, $3, $4)`,
		string(lane), taken.version, taken.follows, names); err != nil {
		return err
	}
	if s.told.Add(1)%(keptChanges/16) > 0 {
		return nil
	}
	_, err := t.Exec(ctx, `
		DELETE FROM stock_change WHERE lane = $1 AND version <= (
		    SELECT version FROM stock_change WHERE lane = $1 ORDER BY version DESC LIMIT 1 OFFSET $2)`, string(lane), keptChanges)
	return err
}

// TellImported leaves word of the products whose stock an import changed. It
// comes last in the import's transaction, for all imports have one lane.
func TellImported(ctx context.Context, s *StockService, t *db.Tx, products []string) error {
	if len(products) == 0 {
		return nil
	}
	taken, err := takeLane(ctx, t, importLane)
	if err != nil {
		return err
	}
	t.AfterCommit(s.live.drop)
	return tellStocks(ctx, s, t, importLane, taken, products)
}

// Follow takes in what others wrote, up to the lanes' versions as they
// were asked for at a time. Other topics are dropped from them.
func Follow(ctx context.Context, s *StockService, lanes map[db.Topic]int64, asked time.Time) error {
	maps.DeleteFunc(lanes, func(name db.Topic, _ int64) bool { return !strings.HasPrefix(string(name), stockTopics) })
	l := s.live
	if !l.loaded() {
		s.warmStockSoon()
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
	for lane == l.feed.lane {
		version, wrote := l.feed.own[seen]
		if !wrote || version > upTo {
			break
		}
		delete(l.feed.own, seen)
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
			l.cells = nil
			return
		}
	}
	l.feed.follow(lanes)
	l.put(rows)
	l.heard = asked
}
