package db

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"portico/store/db/dialect"
)

// standby reads releases from a replica of the database, which Config.ReadURL names. It
// is safe for concurrent use.
//
// A release is read from a connection only after the server of that connection has
// replayed it. The rows of a published release never change, so a replica that has the
// release returns what the primary returns. All other reads go to the primary.
//
// After an error the standby is not read until a check succeeds. Checks run in the
// background, so that requests do not wait for a standby that is known to be lost.
type standby struct {
	dialect.StandbyPool
	check          func(context.Context) error // whether it responds and replicates the database
	classify       func(error) dialect.ErrorKind
	lostConnection func(error) bool // whether an open connection was lost
	log            *slog.Logger

	usable    atomic.Bool
	suspected chan struct{} // receives when the standby needs a check
	reads     [len(standbyResults)]atomic.Int64
}

// The results of reading from the standby, as indexes of standbyResults.
const (
	standbyRead   = iota // the standby returned the rows
	standbyBehind        // it has not replayed the release: the primary was read
	standbyFailed        // it failed: the primary was read
	standbyLost          // it was known to be lost: the primary was read
)

var standbyResults = [...]string{"read", "behind", "failed", "lost"}

const (
	standbyMinPause = time.Second      // before the first check of a lost standby
	standbyMaxPause = 30 * time.Second // between two checks
)

// suspect requests a check.
func (b *standby) suspect() {
	select {
	case b.suspected <- struct{}{}:
	default: // already requested
	}
}

// lose stops reading from the standby until a check succeeds, and requests one. It logs the loss once.
func (b *standby) lose(err error) {
	if b.usable.CompareAndSwap(true, false) {
		b.logLost(err)
		b.suspect()
	}
}

func (b *standby) logLost(err error) {
	b.log.Warn("the standby cannot be read; releases are read from the primary", "error", err)
}

// watch checks the standby when requested, and a lost one again and again, until ctx ends.
func (b *standby) watch(ctx context.Context) {
	pause, foundAt := standbyMinPause, time.Now() // foundAt is when a check succeeded after a loss
	for {
		select {
		case <-b.suspected:
		case <-ctx.Done():
			return
		}
		if b.usable.Load() {
			err := b.check(ctx)
			if err == nil {
				continue
			}
			b.lose(err)
		}
		if time.Since(foundAt) > standbyMaxPause {
			pause = standbyMinPause // it was stable
		}
		for !b.usable.Load() {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
				return
			}
			pause = min(2*pause, standbyMaxPause)
			b.Reset()
			if b.check(ctx) == nil {
				foundAt = time.Now()
				b.usable.Store(true)
				b.log.Info("the standby can be read again")
			}
		}
	}
}
