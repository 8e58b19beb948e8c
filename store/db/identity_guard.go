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
// concurrent use. The methods of a nil continuity do nothing.
type identityGuard struct {
	phase     atomic.Int64 // odd while suspended; only grows
	onSuspend func()       // called once when a suspension begins
	log       func(message string, args ...any)

	mu        sync.Mutex
	identity  string    // of the known database; empty until armed
	lastFound string    // description of a complete database during a suspension; empty for none
	foundAt   time.Time // when found was first read
	loggedAt  time.Time // last log entry of this suspension
}

const (
	confirmAfter    = time.Second      // least time between the two reads that must agree
	suspendLogEvery = 10 * time.Second // interval of log entries during a suspension
)

// begin begins a read or write. It returns the phase to pass to left, or
// store.ErrReplaced while suspended.
func (c *identityGuard) begin() (phase int64, err error) {
	if c == nil {
		return 0, nil
	}
	if phase = c.phase.Load(); phase%2 == 1 {
		return phase, store.ErrReplaced
	}
	return phase, nil
}

// verify returns store.ErrReplaced if a suspension began since enter, because the data
// read may belong to either database.
func (c *identityGuard) verify(phase int64) error {
	if c != nil && c.phase.Load() != phase {
		return store.ErrReplaced
	}
	return nil
}

// check returns store.ErrReplaced while suspended.
func (c *identityGuard) check() error {
	_, err := c.begin()
	return err
}

// arm sets the identity of the opened database. identify and doubt do nothing before.
func (c *identityGuard) arm(identity string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identity = identity
}

// known returns the identity of the known database.
func (c *identityGuard) known() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.identity
}

// identify suspends if a connection or poll read another identity than the known one.
func (c *identityGuard) identify(identity string) {
	if known := c.known(); known != "" && identity != known {
		c.suspend("it is another database under the same name")
	}
}

// suspend suspends reads and writes and logs the reason. It does nothing if suspended.
func (c *identityGuard) suspend(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.identity == "" || c.phase.Load()%2 == 1 {
		return
	}
	c.phase.Add(1)
	c.lastFound, c.loggedAt = "", time.Now()
	c.log("the database was replaced or restored; requests get 503 until it is complete", "reason", reason)
	if c.onSuspend != nil {
		c.onSuspend()
	}
}

// markIncomplete records that the database is still incomplete.
func (c *identityGuard) markIncomplete(reason error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastFound = ""
	if time.Since(c.loggedAt) >= suspendLogEvery {
		c.loggedAt = time.Now()
		c.log("the database is still incomplete; requests get 503", "reason", reason)
	}
}

// confirms records what a read found in a complete database. It reports whether a read
// at least confirmAfter earlier found the same.
func (c *identityGuard) confirms(found string, asked time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lastFound != found {
		c.lastFound, c.foundAt = found, asked
		return false
	}
	return asked.Sub(c.foundAt) >= confirmAfter
}

// resume ends the suspension. identity is that of the new database.
func (c *identityGuard) resume(identity string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.identity = identity
	c.phase.Add(1)
}
