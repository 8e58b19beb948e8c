package db

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestPollPace: only a server that has had no requests for a while, that nobody watches, and that hears
// of writes, polls seldom.
func TestPollPace(t *testing.T) {
	t.Parallel()
	pace := pollPace{idleAfter: idleAfter, idleEvery: idlePollEvery}
	now := time.Unix(1000, 0)
	for _, step := range []struct {
		name  string
		after time.Duration // since the step before
		state pollState
		idle  bool
	}{
		{"the first poll", 0, pollState{listening: true}, false},
		{"a moment later", idleAfter - time.Millisecond, pollState{listening: true}, false},
		{"no requests", time.Millisecond, pollState{listening: true}, true},
		{"still none", idlePollEvery, pollState{listening: true}, true},
		{"a request", idlePollEvery, pollState{listening: true, requests: 1}, false},
		{"none since", idleAfter, pollState{listening: true, requests: 1}, true},
		{"a watcher", idlePollEvery, pollState{listening: true, requests: 1, watched: true}, false},
		{"and for long", time.Hour, pollState{listening: true, requests: 1, watched: true}, false},
		{"none since", idleAfter, pollState{listening: true, requests: 1}, true},
		{"hears nothing", idlePollEvery, pollState{requests: 1}, false},
		{"and for long", time.Hour, pollState{requests: 1}, false},
		{"hears again", idleAfter, pollState{listening: true, requests: 1}, true},
		{"no database", idlePollEvery, pollState{listening: true, requests: 1, failed: true}, false},
		{"it is back", idleAfter, pollState{listening: true, requests: 1}, true},
	} {
		now = now.Add(step.after)
		wait, idle := pace.next(now, step.state)
		require.Equal(t, step.idle, idle, step.name)
		if want := map[bool]time.Duration{false: PollEvery, true: idlePollEvery}[idle]; wait != want {
			t.Errorf("%s: waits %s, not %s", step.name, wait, want)
		}
	}
}
