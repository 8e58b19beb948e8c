package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"
)

// tx is one write: SQL, and nothing else. It may run again after losing to
// another transaction, so side effects wait in afterCommit.
type tx struct {
	session
	now   time.Time // fixed for the whole write, truncated to milliseconds
	actor Actor
	after []func()
}

// afterCommit runs f once the write is durable.
func (t *tx) afterCommit(f func()) { t.after = append(t.after, f) }

// bump tells every server on this database that a topic changed.
func (t *tx) bump(ctx context.Context, topic topic) error {
	_, err := t.exec(ctx, `
		INSERT INTO change (topic, version) VALUES ($1, $2)
		ON CONFLICT (topic) DO UPDATE SET version = CASE WHEN change.version < $2 THEN $2 ELSE change.version + 1 END`,
		string(topic), micros(t.now))
	return err
}

const (
	updateDeadline = time.Minute // bounds one write, which the caller's context does not end
	updateGroup    = 256         // writes committed together at most
	updateRetries  = 8
)

// update runs fn in a transaction and returns once it is durable, or rolled
// back. The caller's cancellation is looked at before fn starts and not
// after: a statement cancelled half-way would roll back its neighbours too.
// fn must not call update.
//
// outcome are pointers to what fn sets and the caller answers by. Under an
// idempotency key they are kept, and fn runs for its first use only (once). So
// what a write looks up, it looks up in fn: a second use may come when it is
// no longer there.
func (s *Store) update(ctx context.Context, actor Actor, fn func(context.Context, *tx) error, outcome ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	fn, err := s.once(ctx, actor, fn, outcome)
	if err != nil {
		return err
	}
	if isClosed(s.closing) {
		return errClosed
	}
	if !s.dialect.oneWriter() {
		return s.updateAlone(ctx, actor, fn)
	}
	queued := &queuedWrite{ctx: ctx, actor: actor, fn: fn, done: make(chan error, 1)}
	select {
	case s.queue <- queued:
	case <-s.closing:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-queued.done:
		return err
	case <-s.written: // the writer has ended; it may have answered just before
	}
	select {
	case err := <-queued.done:
		return err
	default:
		return errClosed
	}
}

// updateAlone gives the write a transaction of its own, and another try when
// it lost to a concurrent one.
func (s *Store) updateAlone(ctx context.Context, actor Actor, fn func(context.Context, *tx) error) error {
	for attempt := 0; ; attempt++ {
		err := s.tryAlone(ctx, actor, fn)
		if err == nil || attempt == updateRetries || !s.lost(err) {
			return s.explainWrite(err)
		}
		pause := time.Duration(1+rand.IntN(1<<min(attempt, 5))) * 5 * time.Millisecond
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (s *Store) tryAlone(caller context.Context, actor Actor, fn func(context.Context, *tx) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(caller), updateDeadline)
	defer cancel()
	transaction, err := s.write.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer transaction.Rollback()
	if err := caller.Err(); err != nil { // it went while the write waited for a connection
		return err
	}
	t := &tx{session: session{on: transaction}, now: s.now(), actor: actor}
	if err := guard(func() error { return fn(ctx, t) }); err != nil {
		return err
	}
	if err := transaction.Commit(); err != nil {
		return err
	}
	t.committed()
	return nil
}

func (t *tx) committed() {
	for _, f := range t.after {
		f()
	}
}

// explainWrite turns an engine's error into ours.
func (s *Store) explainWrite(err error) error {
	if err == nil {
		return nil
	}
	switch {
	case isClosed(s.closing):
		return fmt.Errorf("%w: %w", errClosed, err)
	case s.lost(err):
		return &Error{Code: Conflict, Detail: "Other writes kept changing the same rows; nothing was written, try again."}
	case s.dialect.classify(err) == faultAway:
		return fmt.Errorf("%w: %w", errAway, err)
	}
	return err
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// errRaced is a write's own word that another came between.
var errRaced = errors.New("another write came between")

// lost tells whether a write failed only because of another.
func (s *Store) lost(err error) bool {
	return errors.Is(err, errRaced) || s.dialect.classify(err) == faultRetry
}

// guard turns a panic of fn into an error, so that it rolls back.
func guard(fn func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic in a write: %v\n%s", p, debug.Stack())
		}
	}()
	return fn()
}

// queuedWrite is a write that waits its turn.
type queuedWrite struct {
	ctx   context.Context
	actor Actor
	fn    func(context.Context, *tx) error
	done  chan error
	tx    *tx // after its run
	err   error
}

// errEnded says that the engine itself ended the transaction, and with it
// what the neighbours had written.
var errEnded = errors.New("the engine ended the transaction")

// writer is the one goroutine that writes to SQLite. It commits everything
// that waits together, each write in a savepoint of its own, so that one sync
// to disk serves all of them.
func (s *Store) writer() {
	defer close(s.written)
	w := &connection{store: s}
	defer w.close()
	for {
		var group []*queuedWrite
		select {
		case first := <-s.queue:
			group = append(group, first)
		case <-s.closing:
			s.refuseQueue()
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

func (s *Store) refuseQueue() {
	for {
		select {
		case j := <-s.queue:
			j.done <- errClosed
		default:
			return
		}
	}
}

// connection is the writer's own, kept open with its statements prepared.
type connection struct {
	store *Store
	conn  *sql.Conn
	session
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
	w.conn, w.session = conn, session{on: conn, prepared: newStatements()}
	return nil
}

func (w *connection) close() {
	if w.conn == nil {
		return
	}
	for _, stmt := range w.prepared.text {
		stmt.Close()
	}
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

func (w *connection) answer(group []*queuedWrite) {
	for _, j := range group {
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
	if err := w.open(ctx); err != nil {
		return err
	}
	if _, err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
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
		w.wary = wariness
		if _, err := w.exec(ctx, "BEGIN IMMEDIATE"); err != nil {
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
	_, err = w.exec(ctx, "COMMIT")
	return err
}

// wariness is for how many groups savepoints are set after a write has failed
// among others.
const wariness = 64

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
		if _, err := w.exec(ctx, "ROLLBACK"); err != nil {
			return true, fmt.Errorf("%w: %w", errEnded, j.err)
		}
		return len(group) == 1, nil
	}
	_, err = w.exec(ctx, "COMMIT")
	return true, err
}

// savepoint runs one write so that its failure undoes it alone.
func (w *connection) savepoint(j *queuedWrite) error {
	outer := context.Background()
	if _, err := w.exec(outer, "SAVEPOINT write"); err != nil {
		return err
	}
	if w.try(j); j.err != nil {
		if _, err := w.exec(outer, "ROLLBACK TO write"); err != nil {
			return fmt.Errorf("%w: %w", errEnded, j.err)
		}
	}
	if _, err := w.exec(outer, "RELEASE write"); err != nil {
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return nil
}

// try runs one write in the transaction that is open.
func (w *connection) try(j *queuedWrite) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(j.ctx), updateDeadline)
	defer cancel()
	j.tx = &tx{session: w.session, now: w.store.now(), actor: j.actor}
	if j.err = guard(func() error { return j.fn(ctx, j.tx) }); j.err != nil {
		j.tx = nil
	}
}
