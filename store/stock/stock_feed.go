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
// processes' liveStock: a line in stock_change names the products, and the
// version of its lane in change counts the lines. The lane's row is locked
// until the commit, so its lines become visible in the order of their
// versions, and one that has seen a version has seen all before it. Servers
// have lanes of their own, so that they do not wait for each other.

// stockFeed is what a process knows of the lanes.
type stockFeed struct {
	lane db.Topic           // this process's own
	seen map[db.Topic]int64 // how far each was followed
	own  map[int64]bool     // versions of the own lane that this process wrote
}

// follow notes how far the lanes were followed.
func (f *stockFeed) follow(lanes map[db.Topic]int64) {
	f.seen = lanes
	maps.DeleteFunc(f.own, func(version int64, _ bool) bool { return version <= lanes[f.lane] })
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
func takeLane(ctx context.Context, t *db.Tx, lane db.Topic) (version int64, err error) {
	version, _, err = db.One(ctx, t.Session, db.Scalar[int64], `
		INSERT INTO change (topic, version) VALUES ($1, 1)
		ON CONFLICT (topic) DO UPDATE SET version = change.version + 1
		RETURNING version`, string(lane))
	return version, err
}

// tellStocks leaves word of the products whose stock a write changed, on the
// lane that it has taken.
func tellStocks(ctx context.Context, t *db.Tx, lane db.Topic, version int64, products []string) error {
	names := strings.Join(products, " ")
	if len(products) > manyStocks {
		names = "*"
	}
	if _, err := t.Exec(ctx, `INSERT INTO stock_change (lane, version, products) VALUES ($1, $2, $3)`, string(lane), version, names); err != nil {
		return err
	}
	if version%(keptChanges/16) > 0 {
		return nil
	}
	_, err := t.Exec(ctx, `DELETE FROM stock_change WHERE lane = $1 AND version <= $2`, string(lane), version-keptChanges)
	return err
}

// TellImported leaves word of the products whose stock an import changed. It
// comes last in the import's transaction, for all imports have one lane.
func TellImported(ctx context.Context, s *StockService, t *db.Tx, products []string) error {
	if len(products) == 0 {
		return nil
	}
	version, err := takeLane(ctx, t, importLane)
	if err != nil {
		return err
	}
	t.AfterCommit(s.live.drop)
	return tellStocks(ctx, t, importLane, version, products)
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
		found, err := stockRows(ctx, s.db.Reader, ids, "")
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
// swept already, and when the lane went back, in a database that was restored.
func (s *StockService) stockChanges(ctx context.Context, lane db.Topic, after, upTo int64) (products []string, told bool, err error) {
	if after >= upTo {
		return nil, after == upTo, nil
	}
	lines, err := db.Collect(ctx, s.db.Reader, db.Scalar[string],
		`SELECT products FROM stock_change WHERE lane = $1 AND version > $2 AND version <= $3`, string(lane), after, upTo)
	if err != nil {
		return nil, false, err
	}
	for _, names := range lines {
		if names == "*" {
			return nil, false, nil
		}
		products = append(products, strings.Fields(names)...)
	}
	return products, int64(len(lines)) == upTo-after, nil
}

// passOwn is how far a lane was followed, up to a version, given that what
// this process wrote is known to it.
func (l *liveStock) passOwn(lane db.Topic, version int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := l.feed.seen[lane]
	for lane == l.feed.lane && seen < version && l.feed.own[seen+1] {
		seen++
		delete(l.feed.own, seen)
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
