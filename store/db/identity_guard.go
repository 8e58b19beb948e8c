package db

import (
	"sync"
	"sync/atomic"
	"time"

	"portico/store"
)

// identityGuard detects that the database was dropped and restored under a running
// server. The new one has the same name and is incomplete for a while, so neither
// what is read of it nor what was cached of the old one may be served.
//
// From the first sign of another database until the new one is complete and two
// reads agree, every read and write fails with store.ErrReplaced. It is safe for
// concurrent use. Reads may begin, verify and check with a nil identityGuard, which never suspends.
type identityGuard struct {
	phase     atomic.Int64 // odd while suspended; only grows
	onSuspend func()       // called once when a suspension begins
	log       func(message string, args ...any)

	mu        sync.Mutex
	identity  string    // of the known database; empty until armed
	lastFound string    // description of a complete database during a suspension; empty for none
	foundAt   time.Time // when lastFound was first read
	loggedAt  time.Time // last log entry of this suspension
}

const (
	confirmAfter    = time.Second      // least time between the two reads that must agree
	suspendLogEvery = 10 * time.Second // interval of log entries during a suspension
)

// begin begins a read or write. It returns the phase to pass to verify, or
// store.ErrReplaced while suspended.
func (g *identityGuard) begin() (phase int64, err error) {
	if g == nil {
		return 0, nil
	}
	if phase = g.phase.Load(); phase%2 == 1 {
		return phase, store.ErrReplaced
	}
	return phase, nil
}

// verify returns store.ErrReplaced if a suspension began since begin, because the data
// read may belong to either database.
func (g *identityGuard) verify(phase int64) error {
	if g != nil && g.phase.Load() != phase {
		return store.ErrReplaced
	}
	return nil
}

// check returns store.ErrReplaced while suspended.
func (g *identityGuard) check() error {
	_, err := g.begin()
	return err
}

// arm sets the identity of the opened database. identify and suspend do nothing before.
func (g *identityGuard) arm(identity string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.identity = identity
}

// known returns the identity of the known database.
func (g *identityGuard) known() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.identity
}

// identify suspends if a connection or poll read another identity than the known one.
func (g *identityGuard) identify(identity string) {
	if known := g.known(); known != "" && identity != known {
		g.suspend("it is another database under the same name")
	}
}

// suspend suspends reads and writes, logs the reason and calls onSuspend. It does nothing if suspended.
func (g *identityGuard) suspend(reason string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.identity == "" || g.phase.Load()%2 == 1 {
		return
	}
	g.phase.Add(1)
	g.lastFound, g.loggedAt = "", time.Now()
	g.log("the database was replaced or restored; requests get 503 until it is complete", "reason", reason)
	if g.onSuspend != nil {
		g.onSuspend()
	}
}

// markIncomplete records that the database is still incomplete.
func (g *identityGuard) markIncomplete(reason error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lastFound = ""
	if time.Since(g.loggedAt) >= suspendLogEvery {
		g.loggedAt = time.Now()
		g.log("the database is still incomplete; requests get 503", "reason", reason)
	}
}

// confirms records what a read found in a complete database. It reports whether a read
// at least confirmAfter earlier found the same.
func (g *identityGuard) confirms(found string, asked time.Time) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lastFound != found {
		g.lastFound, g.foundAt = found, asked
		return false
	}
	return asked.Sub(g.foundAt) >= confirmAfter
}

// resume ends the suspension. identity is that of the new database.
func (g *identityGuard) resume(identity string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.identity = identity
	g.phase.Add(1)
}
