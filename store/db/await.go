package db

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
)

const (
	awaitTime    = 2 * time.Second      // a request waits for a version at most
	awaitMost    = 512                  // requests that wait at once
	awaitKept    = 5 * time.Minute      // older versions are not waited for: they were lost, or are there
	pollGap      = 5 * time.Millisecond // between two polls that requests ask for
	awaitStandby = PollEvery / 5        // between two polls for one request, where the first did not show the version
)

// polls has requests that wait for a version share polls.
type polls struct {
	asked   chan struct{} // receives when a poll is wanted at once
	waiting atomic.Int64

	mu    sync.Mutex
	next  *pollRound      // the one that has not begun; nil while nobody waits for it
	taken map[Topic]int64 // the versions up to which this process has taken in what was written
	own   map[Topic]int64 // the latest version of each topic that this process wrote
}

// pollRound is a poll to come.
type pollRound struct {
	done chan struct{}
	err  error // of the poll; set before done is closed
}

// join asks for a poll that begins after now.
func (p *polls) join() *pollRound {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = &pollRound{done: make(chan struct{})}
	}
	select {
	case p.asked <- struct{}{}:
	default: // it is asked for
	}
	return p.next
}

// begin begins a poll for those who have asked so far; end ends it.
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

// took notes that everything up to some versions was taken in.
func (p *polls) took(versions map[Topic]int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken = versions
}

// wrote notes versions that this process wrote: they are known to it.
func (p *polls) wrote(left store.ConsistencyToken) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.own == nil {
		p.own = map[Topic]int64{}
	}
	for topic, version := range left {
		p.own[Topic(topic)] = version
	}
}

// has tells whether this process knows all that a token names. Versions from
// before a time, in microseconds, count as known.
func (p *polls) has(token store.ConsistencyToken, before int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for topic, version := range token {
		if name := Topic(topic); version > before && p.taken[name] < version && p.own[name] != version {
			return false
		}
	}
	return true
}

// Await returns once this process knows what the writes left that a token
// names. It asks for a poll at once, shared by all who wait, and holds neither a
// lock nor a connection meanwhile. It returns UNAVAILABLE where the database
// does not have those versions, after awaitTime, and where awaitMost requests
// wait already.
func (s *DB) Await(ctx context.Context, token store.ConsistencyToken) error {
	known := func() bool { return s.polls.has(token, store.Micros(s.Now().Add(-awaitKept))) }
	if known() {
		return nil
	}
	if s.polls.waiting.Add(1) > awaitMost {
		s.polls.waiting.Add(-1)
		return errBehind()
	}
	defer s.polls.waiting.Add(-1)
	ctx, cancel := context.WithTimeout(ctx, awaitTime)
	defer cancel()
	for {
		round := s.polls.join()
		select {
		case <-round.done:
		case <-ctx.Done():
			return errBehind()
		case <-s.closing:
			return store.ErrClosed
		}
		switch {
		case known():
			return nil
		case round.err == nil && !s.ReadOnly():
			return errBehind() // a write that was acknowledged before would be there
		}
		select { // a standby follows, and a database that is away comes back
		case <-time.After(awaitStandby):
		case <-ctx.Done():
			return errBehind()
		}
	}
}

func errBehind() error {
	return &store.Error{Code: store.Unavailable, Detail: "This server does not have the write that the header " + store.ConsistencyHeader +
		" names. Try again in a moment, or leave the header out to read what is there."}
}
