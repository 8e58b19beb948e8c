package stock

import (
	"context"
	"maps"

	"portico/store/db"
)

// laneVersion is a version of a lane and the one before it; 0 for none.
type laneVersion struct {
	lane             db.Topic
	version, follows int64
}

// laneProgress is how far this process has followed the lanes (change_feed.go).
type laneProgress struct {
	seen      map[db.Topic]int64 // last version seen
	ownWrites map[laneStep]int64 // versions that this process wrote, by the version before
}

// laneStep is a lane and the version before a step.
type laneStep struct {
	lane  db.Topic
	after int64
}

// follow sets the versions seen, and forgets own writes up to them.
func (f *laneProgress) follow(lanes map[db.Topic]int64) {
	f.seen = lanes
	maps.DeleteFunc(f.ownWrites, func(step laneStep, version int64) bool { return version <= lanes[step.lane] })
}

const (
	stockTopics = "stock/" // prefix of a lane's topic

	maxNamedProducts    = 512  // products named in one row; a larger write reloads everything
	maxFollowedProducts = 8192 // products read one by one in a poll; more reload everything
	maxLaneChanges      = 4096 // rows kept of a lane; processes further behind reload everything
)

// stockLanes reads the versions of the lanes.
func stockLanes(ctx context.Context, in db.Session) (map[db.Topic]int64, error) {
	lanes, err := db.Collect(ctx, in, db.ScanPair[db.Topic, int64], `SELECT topic, version FROM change WHERE topic >= $1 AND topic < $2`, stockTopics, stockTopics+"~")
	return db.PairMap(lanes), err
}
