package db

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
)

// polls lets requests that wait for a version share one poll.
type polls struct {
	requested chan struct{} // receives when a request wants a poll now
	hastened  chan struct{} // receives when another server tells of a write
	waiting   atomic.Int64
	mayIdle   atomic.Bool // CountRequest is called for each request
	idle      atomic.Bool // the next poll may be idlePollEvery away; a request wants it now

	mu      sync.Mutex
	next    *pollRound      // not started yet; nil while nobody waits
	loaded  map[Topic]int64 // versions that this process has loaded
	written map[Topic]int64 // newest version of each topic that this process wrote
	bumped  map[Topic]int64 // the last one that this process called topicChanged for
}

// pollRound is one poll that has not started.
type pollRound struct {
	done chan struct{}
	err  error // the poll's error; set before done is closed
}

// join returns the next poll, which starts after this call.
func (p *polls) join() *pollRound {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = &pollRound{done: make(chan struct{})}
	}
	select {
	case p.requested <- struct{}{}:
	default: // already requested
	}
	return p.next
}

// begin starts the poll for all who joined. The caller must call end with its result.
func (p *polls) begin() (end func(error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	round := p.next
	p.next = nil
	return func(err error) {
		if round != nil {
			round.err = err
			close(round.done)
		}
	}
}

// markLoaded records that this process has loaded the versions.
func (p *polls) markLoaded(versions map[Topic]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.loaded = versions
}

// markWritten records versions that this process wrote and so knows.
func (p *polls) markWritten(left store.ConsistencyToken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written == nil {
		p.written = map[Topic]int64{}
	}
	for topic, version := range left {
		p.written[Topic(topic)] = version
	}
}

// hasLoaded reports whether this process knows every version of the token. Versions
// older than before (microseconds) count as known.
func (p *polls) hasLoaded(token store.ConsistencyToken, before int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for topic, version := range token {
		if name := Topic(topic); version > before && p.loaded[name] < version && p.written[name] != version {
			return false
		}
	}
	return true
}

// markBumped records that this process wrote a version of a topic, before it calls topicChanged.
func (p *polls) markBumped(name Topic, version int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bumped == nil {
		p.bumped = map[Topic]int64{}
	}
	p.bumped[name] = version
}

// hasBumped reports whether this process wrote a version of a topic.
func (p *polls) hasBumped(name Topic, version int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bumped[name] == version
}

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
	settings, catalog, keys, clients atomic.Int64

	reloads atomic.Int64 // periodic reloads of everything

	mu         sync.Mutex
	seen       map[Topic]int64 // versions in the table
	all        map[Topic]int64 // the same, with topics that only a hook follows
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

// version returns nil for topics that only a hook follows.
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
