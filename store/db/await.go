package db

import (
	"context"
	"time"

	"portico/store"
)

const (
	awaitTime       = 2 * time.Second      // longest wait of a request for a version
	awaitMaxWaiting = 512                  // requests that may wait at once
	awaitMaxAge     = 5 * time.Minute      // tokens older than this count as seen
	pollGap         = 5 * time.Millisecond // least time between two requested polls
	awaitStandby    = PollEvery / 5        // between two polls for one request on a standby
)

// Await returns when this process has loaded the writes that the token names. It
// requests a poll, which all waiting requests share, and holds no lock or
// connection. It returns UNAVAILABLE if the database does not have the versions,
// after awaitTime, or if awaitMaxWaiting requests already wait.
func (s *DB) Await(ctx context.Context, token store.ConsistencyToken) error {
	known := func() bool { return s.polls.hasLoaded(token, store.Micros(s.Now().Add(-awaitMaxAge))) }
	if known() {
		return nil
	}
	if s.polls.waiting.Add(1) > awaitMaxWaiting {
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
			return errBehind() // an acknowledged write would be visible by now
		}
		select { // a standby catches up; a lost database may come back
		case <-time.After(awaitStandby):
		case <-ctx.Done():
			return errBehind()
		}
	}
}

func errBehind() error {
	return &store.Error{Code: store.Unavailable, Detail: "This server does not have the write that the header " + store.ConsistencyHeader +
		" names yet. Retry in a moment, or omit the header to read the current state."}
}
