package store

import (
	"cmp"
	"fmt"
	"time"
)

// Patience is how long a store waits for its database, and for those it shares
// it with: another server that stands still in the middle of a write, a network
// that swallows what is sent, a pool that is used up. In each, 0 is the
// default; a bound that is to be none is made a long one.
type Patience struct {
	Connection time.Duration // for a connection: a free one of the pool, or a new one
	Read       time.Duration // for a query outside a write; publications and exports are not bound by it
	Write      time.Duration // for a write, what it is tried again included
	Lock       time.Duration // PostgreSQL only: for a row that another transaction holds
	Idle       time.Duration // PostgreSQL only: after which the database ends a write in which nothing happens
}

// The defaults. Idle is the shortest of those of PostgreSQL, so that a write
// that waits for one that stands still outlives it.
const (
	defaultConnectionPatience = 5 * time.Second
	defaultReadPatience       = 10 * time.Second
	defaultWritePatience      = 30 * time.Second
	defaultLockPatience       = 8 * time.Second
	defaultIdlePatience       = 5 * time.Second
)

// OrDefault has the default for each that is 0.
func (p Patience) OrDefault() Patience {
	return Patience{
		Connection: cmp.Or(p.Connection, defaultConnectionPatience),
		Read:       cmp.Or(p.Read, defaultReadPatience),
		Write:      cmp.Or(p.Write, defaultWritePatience),
		Lock:       cmp.Or(p.Lock, defaultLockPatience),
		Idle:       cmp.Or(p.Idle, defaultIdlePatience),
	}
}

// Check names a bound that is none.
func (p Patience) Check() error {
	for _, bound := range []struct {
		name string
		time.Duration
	}{{"database-wait", p.Connection}, {"read-time", p.Read}, {"write-time", p.Write}, {"lock-time", p.Lock}, {"idle-write-time", p.Idle}} {
		if bound.Duration != 0 && bound.Duration < time.Millisecond {
			return fmt.Errorf("--%s must be 1ms or more, or 0 for the default, not %s", bound.name, bound.Duration)
		}
	}
	return nil
}
