package stock

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"portico/store"
	"portico/store/db"
)

// Every write of stock publishes its change to the caches of other processes in its own
// transaction: a row in stock_change names the products, under a version of a lane. The
// row of the lane in change has the newest version and stays locked until the commit, so
// a lane's versions become visible in order.
//
// A write takes a lane last and skips locked ones, so it never waits for a lane, not even
// for that of a stalled server. If none is free, it adds one. So there are at most as many
// lanes as concurrent commits. A process prefers the lane that it used last.
//
// Each row names the version before it. Versions are times, so a version that was lost in
// a failover or restore is not reused: the next row follows an older one, and a process
// that saw the lost version reloads everything.

// acquireLane locks a free lane until the write commits. It never waits. Call it last in a
// transaction.
func (s *Service) acquireLane(ctx context.Context, t *db.Tx) (taken laneVersion, err error) {
	preferred, _ := s.preferredLane.Load().(db.Topic)
	scan := func(rows *sql.Rows) (v laneVersion, err error) {
		return v, rows.Scan(&v.lane, &v.version, &v.follows)
	}
	taken, found, err := db.One(ctx, t.Session, scan, `
		UPDATE change SET version = `+t.LaterSQL("change.version + 1")+`, follows = change.version
		WHERE topic = (
		    SELECT topic FROM change AS lane WHERE topic >= $1 AND topic < $2
		    ORDER BY CASE WHEN topic = $3 THEN 0 ELSE 1 END, topic LIMIT 1`+t.SkipLocked("lane")+`)
		RETURNING topic, version, follows`, stockTopics, stockTopics+"~", string(preferred))
	if err == nil && !found { // there is none, or all are locked
		taken, _, err = db.One(ctx, t.Session, scan, `
			INSERT INTO change (topic, version, follows) VALUES ($1, `+t.LaterSQL("1")+`, 0)
			RETURNING topic, version, follows`, fmt.Sprintf("%s%016x", stockTopics, rand.Uint64()))
	}
	if err == nil && taken.lane != preferred {
		t.AfterCommit(func() { s.preferredLane.Store(taken.lane) })
	}
	t.SetVersion(taken.lane, taken.version)
	return taken, err
}

// publishChange publishes the products that a write changed. Call it last in a transaction. Now and then it deletes the
// oldest rows of the lane, so that there are about maxLaneChanges.
func (s *Service) publishChange(ctx context.Context, t *db.Tx, products []string) (taken laneVersion, err error) {
	if taken, err = s.acquireLane(ctx, t); err != nil {
		return taken, err
	}
	names := strings.Join(products, " ")
	if len(products) > maxNamedProducts {
		names = "*"
	}
	if _, err := t.Exec(ctx, `INSERT INTO stock_change (lane, version, follows, products) VALUES ($1, $2, $3, $4)`,
		string(taken.lane), taken.version, taken.follows, names); err != nil {
		return taken, err
	}
	if s.published.Add(1)%(maxLaneChanges/16) > 0 {
		return taken, nil
	}
	_, err = t.Exec(ctx, `
		DELETE FROM stock_change WHERE lane = $1 AND version <= (
		    SELECT version FROM stock_change WHERE lane = $1 ORDER BY version DESC LIMIT 1 OFFSET $2)`, string(taken.lane), maxLaneChanges)
	return taken, err
}

// PublishImport publishes the products that an import changed, and empties the cache after the commit. Call it last in
// the import's transaction.
func (s *Service) PublishImport(ctx context.Context, t *db.Tx, products []string) error {
	if len(products) == 0 {
		return nil
	}
	t.AfterCommit(s.cache.drop)
	_, err := s.publishChange(ctx, t, products)
	return err
}

// Follow applies the writes of other processes, up to the lanes' versions that a poll found. It removes other topics from
// found.Versions, starts a load of the cache if one is due, and notifies the watchers.
func (s *Service) Follow(ctx context.Context, found db.Poll) error {
	lanes := found.Versions
	maps.DeleteFunc(lanes, func(name db.Topic, _ int64) bool { return !strings.HasPrefix(string(name), stockTopics) })
	if !found.Idle { // nobody reads the stock of an idle server
		s.loadCacheIfDue()
	}
	if !s.cache.loaded() {
		return s.cacheNotFollowed(ctx, lanes)
	}
	var products []string
	for lane, version := range lanes {
		changed, complete, err := s.stockChanges(ctx, lane, s.cache.skipOwn(lane, version), version)
		if err != nil {
			return err
		}
		if products = append(products, changed...); !complete || len(products) > maxFollowedProducts {
			s.cache.drop()
			return s.cacheNotFollowed(ctx, lanes)
		}
	}
	rows, err := stockStatesOf(ctx, s.db.Reader, store.Unique(products))
	if err != nil {
		return err
	}
	s.cache.follow(rows, lanes, found.Asked)
	return s.cacheFollowed(ctx, lanes, rows)
}

// stockChanges reads the products that changed on a lane after one version, up to
// another. complete is false if rows are missing, name no products, or follow another version
// than expected, as after a restore or failover.
func (s *Service) stockChanges(ctx context.Context, lane db.Topic, after, upTo int64) (products []string, complete bool, err error) {
	if after >= upTo {
		return nil, after == upTo, nil
	}
	type change struct {
		laneVersion
		products string
	}
	changes, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (c change, err error) {
		return c, rows.Scan(&c.version, &c.follows, &c.products)
	}, `SELECT version, follows, products FROM stock_change WHERE lane = $1 AND version > $2 AND version <= $3 ORDER BY version`, string(lane), after, upTo)
	if err != nil {
		return nil, false, err
	}
	for _, c := range changes {
		if c.follows != after || c.products == "*" {
			return nil, false, nil
		}
		after = c.version
		products = append(products, strings.Fields(c.products)...)
	}
	return products, after == upTo, nil
}
