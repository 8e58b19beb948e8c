package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"portico/store"
)

// errTxEnded means that SQLite ended the transaction, with all writes of the group.
var errTxEnded = errors.New("SQLite ended the transaction")

// writer is the only goroutine that writes to SQLite. It commits all waiting writes
// together, so that they share one disk sync.
func (s *DB) writer() {
	defer close(s.writerDone)
	w := &writerConn{db: s}
	defer w.close()
	replaced := s.pools.FileGuard.WhenReplaced() // nil once abandonFile has run
	for {
		var group []*queuedWrite
		select {
		case first := <-s.queue:
			group = append(group, first)
		case pause := <-s.pauses:
			pause()
			continue
		case <-replaced:
			w.abandonFile()
			replaced = nil
			continue
		case <-s.closing:
			s.rejectQueue()
			if replaced != nil && s.pools.FileGuard.Check() != nil {
				w.abandonFile()
			}
			return
		}
	more:
		for len(group) < maxGroup {
			select {
			case next := <-s.queue:
				group = append(group, next)
			default:
				break more
			}
		}
		w.run(group)
		w.db.checkpointer.notify()
		w.finishCheckpoint()
	}
}

// rejectQueue answers the queued writes of a closing database.
func (s *DB) rejectQueue() {
	for {
		select {
		case j := <-s.queue:
			j.done <- store.ErrClosed
		default:
			return
		}
	}
}

// writerConn is the writer's connection, with prepared statements.
type writerConn struct {
	db   *DB
	conn *sql.Conn
	Session
	savepointGroups int // number of next groups to run with savepoints
}

// open takes the writer's connection, unless it has one.
func (w *writerConn) open(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.db.pools.Write.Conn(ctx)
	if err != nil {
		return err
	}
	w.conn, w.Session = conn, Session{conn: conn, prepared: newStatements(), slow: w.db.slow}
	return nil
}

func (w *writerConn) close() {
	if w.conn == nil {
		return
	}
	w.prepared.close()
	w.conn.Close()
	w.conn = nil
}

// run commits a group. If that fails as a whole, it commits each write alone.
func (w *writerConn) run(group []*queuedWrite) {
	if w.commit(group) == nil {
		w.finish(group)
		return
	}
	for _, j := range group {
		alone := []*queuedWrite{j}
		for attempt := 0; ; attempt++ {
			j.err = nil
			err := w.commit(alone)
			if err == nil {
				break
			}
			if attempt == updateRetries || !w.db.isRetryable(err) {
				j.err = err
				break
			}
			time.Sleep(time.Duration(1+rand.IntN(10)) * 5 * time.Millisecond)
		}
		w.finish(alone)
	}
}

// finish reports the committed writes (Tx.committed) and returns each result to its caller; an error if the file was replaced.
func (w *writerConn) finish(group []*queuedWrite) {
	replaced := w.db.pools.FileGuard.Check()
	for _, j := range group {
		if replaced != nil {
			j.err = replaced
		}
		if j.err == nil && j.tx != nil {
			j.tx.committed()
		}
		j.done <- w.db.writeError(j.err)
	}
}

// commit runs the group in one transaction. An error means that nothing was written;
// the error of a single write is in its err.
func (w *writerConn) commit(group []*queuedWrite) (err error) {
	ctx := context.Background()
	if err := w.db.pools.FileGuard.Check(); err != nil {
		return err
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if _, rollback := w.conn.ExecContext(ctx, "ROLLBACK"); rollback != nil && !errors.Is(err, errTxEnded) {
				w.close() // do not reuse a connection in an unknown state
			}
		}
	}()
	if w.savepointGroups == 0 || len(group) == 1 {
		if done, err := w.commitOptimistic(group); done {
			return err
		}
		w.savepointGroups = SavepointGroups
		if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
	}
	w.savepointGroups--
	for _, j := range group {
		if j.tx, j.err = nil, j.ctx.Err(); j.err != nil {
			continue
		}
		if err := w.savepoint(j); err != nil {
			return err
		}
	}
	_, err = w.Exec(ctx, "COMMIT")
	return err
}

// SavepointGroups is the number of groups that use savepoints after a write of a group failed.
const SavepointGroups = 64

// commitOptimistic runs the group without savepoints, which saves a quarter of the cost of a
// large write: SQLite copies each changed page for a savepoint. If one of several
// writes fails, it rolls back, and the group must run again with savepoints.
func (w *writerConn) commitOptimistic(group []*queuedWrite) (done bool, err error) {
	ctx := context.Background()
	for _, j := range group {
		if j.tx, j.err = nil, j.ctx.Err(); j.err != nil {
			continue
		}
		if w.runWrite(j); j.err == nil {
			continue
		}
		if _, err := w.Exec(ctx, "ROLLBACK"); err != nil {
			return true, fmt.Errorf("%w: %w", errTxEnded, j.err)
		}
		return len(group) == 1, nil
	}
	_, err = w.Exec(ctx, "COMMIT")
	return true, err
}

// savepoint runs one write in a savepoint, so that a failure undoes only that write.
func (w *writerConn) savepoint(j *queuedWrite) error {
	outer := context.Background()
	if _, err := w.Exec(outer, "SAVEPOINT write"); err != nil {
		return err
	}
	if w.runWrite(j); j.err != nil {
		if _, err := w.Exec(outer, "ROLLBACK TO write"); err != nil {
			return fmt.Errorf("%w: %w", errTxEnded, j.err)
		}
	}
	if _, err := w.Exec(outer, "RELEASE write"); err != nil {
		return fmt.Errorf("%w: %w", errTxEnded, err)
	}
	return nil
}

// runWrite runs one write in the open transaction.
func (w *writerConn) runWrite(j *queuedWrite) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(j.ctx), w.db.connection.Timeouts.Write, store.ErrTimeout)
	defer cancel()
	j.tx = &Tx{Session: w.Session, db: w.db, Now: w.db.Now(), Actor: j.actor, caller: j.ctx}
	if j.err = j.tx.run(ctx, j.fn); j.err != nil {
		j.tx = nil
	}
}

// finishCheckpoint copies the last pages of the log, so that the next commit starts it again.
func (w *writerConn) finishCheckpoint() {
	if w.conn == nil || w.db.pools.FileGuard.IsReplaced() || !w.db.checkpointer.finish.CompareAndSwap(true, false) {
		return
	}
	if _, err := w.Exec(context.Background(), `PRAGMA wal_checkpoint(PASSIVE)`); err != nil {
		_ = w.db.databaseError(err) // logs it; the checkpointer tries again
	}
}

// checkpointTries is how often the log is checkpointed while readers use it.
const checkpointTries = 20

// abandonFile empties the write-ahead log of the old file before the connection closes: the new file would otherwise be opened
// with the old log. The log is copied into the old file, unless that was overwritten. It logs an error if it cannot.
func (w *writerConn) abandonFile() {
	ctx := context.Background()
	conn := w.conn
	dropped, err := w.db.pools.FileGuard.DropLog()
	if conn == nil && !dropped {
		conn, err = w.db.pools.Write.Conn(ctx)
	}
	if err == nil && !dropped {
		err = emptyLog(ctx, conn, checkpointTries)
	}
	if err != nil {
		w.db.Log.Error("could not empty the write-ahead log of the old database; delete it before you restart", "file", w.db.pools.FileGuard.Path+"-wal", "error", err)
	}
	if w.conn == nil && conn != nil {
		conn.Close()
	}
	w.close()
	_ = w.db.pools.Write.Close()
}

// emptyLog checkpoints the write-ahead log into the file and empties it. While readers use the log it tries again, tries times
// in all, and then returns an error.
func emptyLog(ctx context.Context, conn *sql.Conn, tries int) error {
	for try := 1; ; try++ {
		var busy, pages, copied int
		if err := conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &copied); err != nil || busy == 0 {
			return err
		}
		if try == tries {
			return errors.New("connections still read it")
		}
		time.Sleep(PollEvery)
	}
}

const (
	maxGroup        = 256 // writes in one commit at most
	updateRetries   = 8
	lostConnRetries = 3 // of a write whose connection was lost before the commit
)
