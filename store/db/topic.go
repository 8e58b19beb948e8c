package db

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Topic is a kind of data that other processes may change.
type Topic string

const (
	TopicSettings Topic = "settings"
	TopicCatalog  Topic = "catalog" // catalogs, rules and which release is served
	TopicKeys     Topic = "keys"    // signing keys
	TopicClients  Topic = "clients" // API clients
)

// topics counts the changes of each topic that this process has seen. Counters only
// grow, so a value read before a change never counts as current after it.
type topics struct {
	settings, catalog, keys, clients atomic.Int64 // returned by version

	reloads atomic.Int64 // periodic reloads of everything

	mu         sync.Mutex
	seen       map[Topic]int64 // last versions of the topics with a counter; nil before the first poll
	all        map[Topic]int64 // versions of all topics that the last poll found
	reloadedAt time.Time       // time of the last periodic reload
}

// reloadEvery is how often values are reloaded although no version changed, in case
// a table was edited or restored by hand.
const reloadEvery = 30 * time.Second

// detectRollback records the versions. It returns a reason if one is older than before, as
// after a restored backup or a failover that lost writes, else "".
func (t *topics) detectRollback(versions map[Topic]int64) (reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, seen := range t.all {
		if version, there := versions[name]; !there || version < seen {
			reason = fmt.Sprintf("it went back to an earlier state: %s has version %d, had %d", name, version, seen)
		}
	}
	t.all = versions
	return reason
}

// version returns the counter of a topic; nil for a topic, as of stock, that only a hook follows.
func (t *topics) version(name Topic) *atomic.Int64 {
	switch name {
	case TopicSettings:
		return &t.settings
	case TopicCatalog:
		return &t.catalog
	case TopicClients:
		return &t.clients
	case TopicKeys:
		return &t.keys
	}
	return nil
}
