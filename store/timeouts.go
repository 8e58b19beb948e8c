package store

import (
	"cmp"
	"fmt"
	"time"
)

// Timeouts are the timeouts of database access. 0 means the default; there is no value
// for "none".
type Timeouts struct {
	Connection time.Duration // for a connection, from the pool or new
	Read       time.Duration // of a query outside a write; publications and exports have none
	Write      time.Duration // of a write, with its retries
	Lock       time.Duration // PostgreSQL only: for a locked row
	Idle       time.Duration // PostgreSQL only: until the database ends an idle transaction
}

// The defaults. Idle is shorter than Lock, so that a write outlives a stalled one that it
// waits for, and so short that a frozen server delays the writes of others for a second at most.
const (
	defaultConnectionTimeout = 5 * time.Second
	defaultReadTimeout       = 10 * time.Second
	defaultWriteTimeout      = 30 * time.Second
	defaultLockTimeout       = 8 * time.Second
	defaultIdleTimeout       = time.Second
)

// OrDefault replaces each 0 by its default.
func (t Timeouts) OrDefault() Timeouts {
	return Timeouts{
		Connection: cmp.Or(t.Connection, defaultConnectionTimeout),
		Read:       cmp.Or(t.Read, defaultReadTimeout),
		Write:      cmp.Or(t.Write, defaultWriteTimeout),
		Lock:       cmp.Or(t.Lock, defaultLockTimeout),
		Idle:       cmp.Or(t.Idle, defaultIdleTimeout),
	}
}

// Check returns an error that names the flag of an invalid timeout.
func (t Timeouts) Check() error {
	for _, bound := range []struct {
		name string
		time.Duration
	}{{"database-wait", t.Connection}, {"read-time", t.Read}, {"write-time", t.Write}, {"lock-time", t.Lock}, {"idle-write-time", t.Idle}} {
		if bound.Duration != 0 && bound.Duration < time.Millisecond {
			return fmt.Errorf("--%s must be at least 1ms, or 0 for the default, got %s", bound.name, bound.Duration)
		}
	}
	return nil
}
