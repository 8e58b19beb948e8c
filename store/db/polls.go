package db

import (
	"sync"
	"sync/atomic"

	"portico/store"
)

// polls lets requests that wait for a version share one poll, and knows which versions this process has loaded or written.
type polls struct {
	requested chan struct{} // receives when a request wants a poll now
	hastened  chan struct{} // receives when another server tells of a write
	waiting   atomic.Int64  // calls of Await that wait
	mayIdle   atomic.Bool   // CountRequest is called for each request
	idle      atomic.Bool   // the next poll may be idlePollEvery away; a request wants it now

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

// join requests a poll and returns the next one, which starts after this call.
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
func (p *polls) markWritten(token store.ConsistencyToken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.written == nil {
		p.written = map[Topic]int64{}
	}
	for topic, version := range token {
		p.written[Topic(topic)] = version
	}
}

// hasLoaded reports whether this process knows every version of the token. Versions are times (Tx.bump): those older than
// before (microseconds) count as known.
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
