package db

import "time"

const (
	// PollEvery bounds how long a server serves data that another process has replaced.
	PollEvery = 250 * time.Millisecond

	idlePollEvery = 5 * time.Second        // between polls of an idle server that hears of writes
	idleAfter     = 2 * time.Second        // time without requests after which a server is idle
	hastenGap     = 100 * time.Millisecond // least time between two polls for notifications
)

// pollPace decides when the next poll is due. A server that is asked for nothing, and that other
// servers tell of their writes, polls every idlePollEvery; any other polls every PollEvery.
type pollPace struct {
	idleAfter, idleEvery time.Duration

	requests uint64    // at the last poll
	busyAt   time.Time // last poll that found the server busy
}

// pollState is what a poll found.
type pollState struct {
	requests  uint64 // counted so far
	watched   bool   // somebody waits for changes
	listening bool   // other servers' notifications arrive
	failed    bool   // the poll failed, or the database may be another one
}

// next returns the time until the next poll, and whether the server is idle until then.
func (p *pollPace) next(now time.Time, state pollState) (wait time.Duration, idle bool) {
	if state.requests != p.requests || state.watched || state.failed || !state.listening || p.busyAt.IsZero() {
		p.requests, p.busyAt = state.requests, now
	}
	if now.Sub(p.busyAt) < p.idleAfter {
		return PollEvery, false
	}
	return p.idleEvery, true
}
