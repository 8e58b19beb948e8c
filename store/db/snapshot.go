package db

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db/dialect"
)

// Snapshot is a session whose reads all see one state of the database, until Renew. Copies of the
// session follow Renew.
type Snapshot struct {
	Session
	db      *DB
	tx      *snapshotTx // of Session
	spare   *sql.Conn   // for the next state, during Renew
	differs bool        // Renew found that the present state differs: it never moves again
}

// snapshotTx is the transaction of a snapshot, and its connection. Renew replaces both.
type snapshotTx struct {
	*sql.Tx
	conn *sql.Conn
}

// end ends the transaction.
func (t *snapshotTx) end() {
	_ = t.Rollback()
	_ = t.conn.Close()
}

// spareWait is how long Renew waits for a connection of the pool for snapshots.
const spareWait = 100 * time.Millisecond

// Snapshot runs fn with a session whose reads all see one state of the database.
func (s *DB) Snapshot(ctx context.Context, fn func(Session) error) error {
	return s.RenewableSnapshot(ctx, func(v *Snapshot) error { return fn(v.Session) })
}

// RenewableSnapshot is Snapshot for an fn that reads for long while this process writes, and that calls
// Renew now and then.
func (s *DB) RenewableSnapshot(ctx context.Context, fn func(*Snapshot) error) error {
	phase, err := s.identityGuard.begin() // fails if the database was replaced; verify fails if it was since
	if err != nil {
		return err
	}
	conn, err := s.pools.Snapshots.Conn(dialect.WithPing(ctx))
	if err != nil {
		return s.readError(err)
	}
	v := &Snapshot{db: s, tx: &snapshotTx{conn: conn}}
	if v.tx.Tx, err = conn.BeginTx(ctx, s.dialect.Snapshot()); err != nil {
		conn.Close()
		return s.readError(err)
	}
	defer func() { v.tx.end() }()
	if err := s.identityGuard.verify(phase); err != nil {
		return err
	}
	v.Session = Session{conn: v.tx, classify: s.readError, slow: s.slow}
	if s.dialect.SingleWriter() {
		v.prepared = newStatements() // those of the transaction: move closes them, and others are prepared for the next one
	}
	if err := v.bulk(ctx, s.dialect); err != nil {
		return err
	}
	if err := fn(v); err != nil {
		return err
	}
	return s.identityGuard.verify(phase)
}

// Renew lets SQLite's write-ahead log start again when it is longer than Config.LogPages: until then the
// log keeps everything that was written since the snapshot began. The snapshot moves to the present state if
// same reports that what the caller reads is the same there; after that, the caller must not read anything that same has
// not compared. The snapshot stays where it is, also in later calls, if same returns false. Nobody may use the session
// during Renew.
//
// SQLite copies the log up to the oldest snapshot, and starts it again only if no snapshot reads it. So Renew moves the
// snapshot and copies most of the log while others write; then, while nothing is written, it moves the snapshot,
// copies the rest, and moves it once more, to a state that is in the file alone.
func (v *Snapshot) Renew(ctx context.Context, same func(context.Context, Session) (bool, error)) error {
	if v.differs || !v.db.dialect.SingleWriter() {
		return nil
	}
	c := &v.db.checkpointer
	if log, err := c.pages(ctx, "NOOP"); err != nil || log.pages < v.db.config.logPages() {
		return err
	}
	waiting, cancel := context.WithTimeout(ctx, spareWait)
	spare, err := v.db.pools.Snapshots.Conn(waiting)
	cancel()
	if err != nil { // other snapshots use all connections: the next call tries again
		return ctx.Err()
	}
	v.spare = spare
	defer func() { _ = v.spare.Close() }()
	if moved, err := v.move(ctx, same); err != nil || !moved {
		return err
	}
	if _, err := c.copy(ctx); err != nil { // up to the state of the snapshot
		return err
	}
	return v.db.betweenWrites(ctx, func() error {
		if moved, err := v.move(ctx, same); err != nil || !moved {
			return err
		}
		if log, err := c.copy(ctx); err != nil || log.copied < log.pages {
			return err
		}
		if moved, err := v.move(ctx, same); err != nil || !moved {
			return err
		}
		return c.restart(ctx)
	})
}

// move ends the snapshot and begins one of the present state on the spare connection, if that state is the same. The
// connection of the ended one becomes the spare.
func (v *Snapshot) move(ctx context.Context, same func(context.Context, Session) (bool, error)) (moved bool, err error) {
	tx, err := v.spare.BeginTx(context.WithoutCancel(ctx), v.db.dialect.Snapshot()) // outlives the caller of Renew
	if err != nil {
		return false, v.db.readError(err)
	}
	unchanged, err := same(ctx, Session{conn: tx, classify: v.db.readError})
	if err != nil || !unchanged {
		v.differs = err == nil
		_ = tx.Rollback()
		return false, err
	}
	v.prepared.close()
	_ = v.tx.Rollback()
	v.tx.Tx, v.tx.conn, v.spare = tx, v.spare, v.tx.conn
	return true, nil
}

// betweenWrites runs fn in SQLite's writer while nothing is written.
func (s *DB) betweenWrites(ctx context.Context, fn func() error) error {
	done := make(chan error, 1)
	select {
	case s.pauses <- func() { done <- RecoverPanic(fn) }:
		return <-done
	case <-s.writerDone:
		return store.ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}
