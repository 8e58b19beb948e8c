package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

const (
	checkpointPages = 4000  // size of a log to copy: 16 MiB. Pages that were written often are copied once
	maxLogPages     = 16000 // size of a log that each commit copies, in case the checkpointer cannot
	lastPages       = 256   // pages that the writer may copy
	checkpointTurns = 4     // copies in a row until the writer copies the rest
	checkpointEvery = 20 * time.Millisecond
	restartWait     = 50 * time.Millisecond
	blockedPause    = time.Second // after a copy that failed, or that a reader of older pages ended early
)

// notify tells the checkpointer of a commit. It never waits.
func (c *checkpointer) notify() {
	select {
	case c.written <- struct{}{}:
	default: // it knows
	}
}

// checkpoint copies the log whenever it is long, until ctx ends or the file is replaced.
func (s *DB) checkpoint(ctx context.Context) {
	c := &s.checkpointer
	for {
		select {
		case <-c.written:
		case <-s.pools.FileGuard.WhenReplaced():
			return
		case <-ctx.Done():
			return
		}
		if s.pools.FileGuard.Check() != nil {
			return
		}
		pause := checkpointEvery
		if copied, err := c.run(ctx); err != nil || !copied {
			pause = blockedPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// run copies the log if it is long, until fewer than lastPages are left or checkpointTurns are over. Then the writer copies
// the rest (finish). copied is false if a reader of older pages ended the copy early.
func (c *checkpointer) run(ctx context.Context) (copied bool, err error) {
	log, err := c.pages(ctx, "NOOP")
	if err != nil || log.pages < checkpointPages {
		return err == nil, err
	}
	for range checkpointTurns {
		before := log.copied
		if _, err = c.copy(ctx); err == nil {
			log, err = c.pages(ctx, "NOOP") // with the pages of commits meanwhile
		}
		if err != nil || log.copied == before && log.pages-log.copied >= lastPages {
			return false, err
		}
		if log.pages-log.copied < lastPages {
			break
		}
	}
	c.finish.Store(true)
	return true, nil
}

// logState is the state of the write-ahead log, in pages.
type logState struct{ pages, copied int }

// copy copies the log as far as its readers allow.
func (c *checkpointer) copy(ctx context.Context) (logState, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pages(ctx, "PASSIVE")
}

// restart waits up to restartWait until nobody reads the log, so that the next commit starts it again. The
// log must be copied whole, and nothing may be written meanwhile.
func (c *checkpointer) restart(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.log.Exec(ctx, fmt.Sprintf(`PRAGMA busy_timeout = %d`, restartWait.Milliseconds()))
	if err == nil {
		_, err = c.pages(ctx, "RESTART")
	}
	return err
}

// pages runs PRAGMA wal_checkpoint. The mode NOOP copies nothing.
func (c *checkpointer) pages(ctx context.Context, mode string) (log logState, err error) {
	log, _, err = One(ctx, c.log, func(rows *sql.Rows) (l logState, err error) {
		var busy int
		return l, rows.Scan(&busy, &l.pages, &l.copied)
	}, `PRAGMA wal_checkpoint(`+mode+`)`)
	return log, err
}
