package db

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"github.com/pressly/goose/v3"
)

// dialect is what differs between SQLite and PostgreSQL: opening, write concurrency,
// error codes and a little DDL. Queries are one text for both, written for
// PostgreSQL. Only dialect.go, sqlite.go, postgres.go
// and postgres_listen.go know which database runs.
type dialect interface {
	// open connects to the database.
	open(ctx context.Context, config Config) (pools, error)

	// openStandby creates the pool for Config.ReadURL. identity is an expression for
	// the identity of a database. It does not connect.
	openStandby(ctx context.Context, config Config, identity func() string) (standbyPool, error)

	// ddl converts a migration to this dialect.
	ddl(text string) string

	// damage is a query that selects a text for each damaged page or index.
	damage() string

	// tables is a query for the names of all tables and views, without those of extensions. On SQLite it also
	// returns the application_id of another application.
	tables() string

	// mark are statements that mark the database as Portico's, at a version of the schema; empty if
	// the mark in store_meta is all.
	mark(version int) string

	// columns is a query for table, name and type of each column that can be written, without the
	// migrator's, in the order of their tables and places.
	columns() string

	// goose returns the migrator's dialect and how to lock out other processes.
	goose(config Config) (goose.Dialect, []goose.ProviderOption, error)

	// lockMigrations keeps other processes from migrating until unlock.
	lockMigrations(ctx context.Context, config Config) (unlock func(), err error)

	// classify returns what a driver error means.
	classify(err error) errorKind

	// unreachable reports whether err means that no connection could be opened.
	unreachable(err error) bool

	// singleWriter reports whether writes are queued to a single connection.
	singleWriter() bool

	// snapshot returns the options of a transaction whose reads see one state.
	snapshot() *sql.TxOptions

	// forUpdate is a suffix that locks the rows of table that a query returns, in its
	// order, until the transaction ends.
	forUpdate(table string) string

	// forShare is like forUpdate, but lets other transactions lock the rows in the same way.
	forShare(table string) string

	// skipLocked is like forUpdate, but skips rows that another transaction has locked.
	skipLocked(table string) string

	// lockTimeout is a statement that sets the transaction's lock timeout; empty if
	// the database has none.
	lockTimeout(d time.Duration) string

	// oldestTransaction is a query that describes the longest open transaction of
	// another session.
	oldestTransaction() string

	// batch bounds the size of batches.
	batch() batchBounds

	// explain is a query that returns the plan of query.
	explain(query string) string

	// analyze is a statement that updates the statistics of a table; empty if not needed.
	analyze(table string) string

	// bulk is a statement that begins a transaction over many rows; empty if not needed.
	bulk() string

	// clock is an expression for the database's time in microseconds.
	clock() string

	// least and greatest name the functions for the smallest and largest of their arguments.
	least() string
	greatest() string

	// primaryKeys is a query for the tables with a primary key, sorted; empty if
	// databases are never restored table by table.
	primaryKeys() string

	// readOnly is a query that returns 1 if the database rejects writes, else 0.
	readOnly() string

	// notify is a query that sends a notification to all listeners, with the sender's name
	// as $1; empty if the database has no notifications.
	notify() string

	// backup writes a consistent copy of the database to a new file.
	backup(ctx context.Context, config Config, path string) error

	// describe names the database without credentials.
	describe(config Config) string
}

// pools are the connection pools of a database. They are separate so that reads do
// not wait for writes, and neither waits for publications and sweeps.
type pools struct {
	read        *sql.DB // queries
	write       *sql.DB // writes; on SQLite a single connection
	snapshots   *sql.DB // snapshots, whose queries have no timeout
	background  *sql.DB // background jobs (Aside); nil on SQLite
	checkpoints *sql.DB // copies of SQLite's write-ahead log; nil on PostgreSQL
	maintenance *sql.DB // migrations and other long writes
	closer      io.Closer
	fileGuard   *fileGuard // nil on PostgreSQL
	stats       []func() PoolStats

	lockWaiters    *lockWaiters // nil on SQLite
	lockTimeoutSet bool         // the URL sets lock_timeout

	listen func(ctx context.Context) (listener, error) // opens a connection that receives notifications; nil on SQLite

	identity func() string // an expression that differs between databases and is stable for one
	reset    func()        // reconnects each connection once it is free
}

// listener receives notifications.
type listener interface {
	Wait(ctx context.Context) (sender string, err error) // the sender of the next one
	Close()
}

// errorKind is the meaning of a driver error.
type errorKind int

const (
	kindOther       errorKind = iota
	kindDuplicate             // unique constraint
	kindCheck                 // check constraint
	kindRetry                 // lost to another transaction; retry
	kindTxEnded               // the database ended an idle transaction and rolled it back; retry
	kindLockTimeout           // timed out waiting for a lock
	kindUnavailable           // no connection, or a lost one
	kindTimeout               // statement timeout
	kindReadOnly              // the database rejects writes
	kindDiskFull              // disk full
	kindMissing               // a table or column that existed is missing
)

// closers closes all, in order.
type closers []io.Closer

func (list closers) Close() error {
	var failures []error
	for _, c := range list {
		failures = append(failures, c.Close())
	}
	return errors.Join(failures...)
}

type closerFunc func()

func (f closerFunc) Close() error { f(); return nil }

// batchBounds bounds a batch.
type batchBounds struct {
	target    time.Duration // target time of a batch before its commit
	statement time.Duration // target time of one statement; at least target for one statement a transaction
	minRows   int           // least rows, however long they take
}
