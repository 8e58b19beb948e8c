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

// queuedWrite is a write that waits its turn.
type queuedWrite struct {
	ctx   context.Context
	actor store.Actor
	fn    func(context.Context, *Tx) error
	done  chan error
	tx    *Tx // after its run
	err   error
}

// errEnded says that the engine itself ended the transaction, and with it
// what the neighbours had written.
var errEnded = errors.New("the engine ended the transaction")

// writer is the one goroutine that writes to SQLite. It commits everything
// that waits together, each write in a savepoint of its own, so that one sync
// to disk serves all of them.
func (s *DB) writer() {
	defer close(s.written)
	w := &connection{store: s}
	defer w.close()
	left := s.home.whenLeft()
	for {
		var group []*queuedWrite
		select {
		case first := <-s.queue:
			group = append(group, first)
		case <-left:
			w.leave()
			left = nil
			continue
		case <-s.closing:
			s.refuseQueue()
			if left != nil && s.home.check() != nil {
				w.leave()
			}
			return
		}
	more:
		for len(group) < updateGroup {
			select {
			case next := <-s.queue:
				group = append(group, next)
			default:
				break more
			}
		}
		w.run(group)
	}
}

func (s *DB) refuseQueue() {
	for {
		select {
		case j := <-s.queue:
			j.done <- store.ErrClosed
		default:
			return
		}
	}
}

// connection is the writer's own, kept open with its statements prepared.
type connection struct {
	store *DB
	conn  *sql.Conn
	Session
	wary int // groups to come that are run with savepoints
}

func (w *connection) open(ctx context.Context) error {
	if w.conn != nil {
		return nil
	}
	conn, err := w.store.write.Conn(ctx)
	if err != nil {
		return err
	}
	w.conn, w.Session = conn, Session{on: conn, prepared: newStatements()}
	return nil
}

func (w *connection) close() {
	if w.conn == nil {
		return
	}
	w.prepared.close()
	w.conn.Close()
	w.conn = nil
}

// run commits a group together; when that fails as a whole, each of its
// writes is tried once more alone.
func (w *connection) run(group []*queuedWrite) {
	if w.commit(group) == nil {
		w.answer(group)
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
			if attempt == updateRetries || !w.store.lost(err) {
				j.err = err
				break
			}
			time.Sleep(time.Duration(1+rand.IntN(10)) * 5 * time.Millisecond)
		}
		w.answer(alone)
	}
}

// answer tells each write how it went. What is in a file that has lost its name
// is written nowhere.
func (w *connection) answer(group []*queuedWrite) {
	left := w.store.home.check()
	for _, j := range group {
		if left != nil {
			j.err = left
		}
		if j.err == nil && j.tx != nil {
			j.tx.committed()
		}
		j.done <- w.store.explainWrite(j.err)
	}
}

// commit runs the group in one transaction. An error means that nothing of
// the group was written; the error of one write alone is in its err.
func (w *connection) commit(group []*queuedWrite) (err error) {
	ctx := context.Background()
	if w.store.home.isLeft() {
		return store.ErrLeft
	}
	if err := w.open(ctx); err != nil {
		return err
	}
	if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			if _, rollback := w.conn.ExecContext(ctx, "ROLLBACK"); rollback != nil && !errors.Is(err, errEnded) {
				w.close() // a connection in doubt is not used again
			}
		}
	}()
	if w.wary == 0 || len(group) == 1 {
		if done, err := w.trustingly(group); done {
			return err
		}
		w.wary = Wariness
		if _, err := w.Exec(ctx, "BEGIN IMMEDIATE"); err != nil {
			return err
		}
	}
	w.wary--
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

// Wariness is for how many groups savepoints are set after a write has failed
// among others.
const Wariness = 64

// trustingly runs the group without savepoints, for which the engine keeps a
// copy of every page that a write changes: a quarter of what a large one
// costs. Where one of several fails, all is rolled back, and is to be done
// again with savepoints.
func (w *connection) trustingly(group []*queuedWrite) (done bool, err error) {
	ctx := context.Background()
	for _, j := range group {
		if j.tx, j.err = nil, j.ctx.Err(); j.err != nil {
			continue
		}
		if w.try(j); j.err == nil {
			continue
		}
		if _, err := w.Exec(ctx, "ROLLBACK"); err != nil {
			return true, fmt.Errorf("%w: %w", errEnded, j.err)
		}
		return len(group) == 1, nil
	}
	_, err = w.Exec(ctx, "COMMIT")
	return true, err
}

// savepoint runs one write so that its failure undoes it alone.
func (w *connection) savepoint(j *queuedWrite) error {
	outer := context.Background()
	if _, err := w.Exec(outer, "SAVEPOINT write"); err != nil {
		return err
	}
	if w.try(j); j.err != nil {
		if _, err := w.Exec(outer, "ROLLBACK TO write"); err != nil {
			return fmt.Errorf("%w: %w", errEnded, j.err)
		}
	}
	if _, err := w.Exec(outer, "RELEASE write"); err != nil {
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil
}

// try runs one write in the transaction that is open.
func (w *connection) try(j *queuedWrite) {
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(j.ctx), w.store.patience.Write, store.ErrSlow)
	defer cancel()
	j.tx = &Tx{Session: w.Session, db: w.store, Now: w.store.Now(), Actor: j.actor, caller: j.ctx}
	if j.err = Guard(func() error { return j.fn(ctx, j.tx) }); j.err != nil {
		j.tx = nil
	}
}
