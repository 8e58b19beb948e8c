package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// dialect.go, sqlite.go and postgres.go alone know that two engines exist.
// Queries are one text for both, written for PostgreSQL; what differs is how a
// database is opened, how one writes to it, what its errors mean, and a few
// words of DDL.

// dialect is one engine.
type dialect interface {
	// open connects.
	open(ctx context.Context, config Config) (pools, error)

	// ddl turns a migration's text into this engine's.
	ddl(text string) string

	// hasTable counts the tables of a name.
	hasTable() string

	// goose tells the migrator the engine, and how to keep others out.
	goose(config Config) (goose.Dialect, []goose.ProviderOption, error)

	// lockMigrations keeps other processes from migrating until unlock.
	lockMigrations(ctx context.Context, config Config) (unlock func(), err error)

	// classify says what an engine's error means to us.
	classify(err error) fault

	// unreachable tells whether no connection could be had.
	unreachable(err error) bool

	// oneWriter tells whether writes are queued to a single connection.
	oneWriter() bool

	// snapshot is the isolation under which several reads see one state.
	snapshot() *sql.TxOptions

	// ForUpdate ends a query whose rows of a table nobody else may change before
	// this transaction ends. They are locked in the order of the query.
	forUpdate(table string) string

	// skipLocked ends a query that locks rows of a table as forUpdate does, but
	// passes over those that another transaction holds, and waits for none.
	skipLocked(table string) string

	// lockTimeout is the statement by which a transaction waits so long for a row
	// that another holds; empty where that is not for it to say.
	lockTimeout(d time.Duration) string

	// oldestTransaction is a query that describes the transaction of another
	// session that has been open for longest.
	oldestTransaction() string

	// batch bounds the batches of long work.
	batch() batchBounds

	// explain makes a query tell its plan.
	explain(query string) string

	// analyze is the statement that tells the planner what a table holds now;
	// empty where it plans as well without.
	analyze(table string) string

	// bulk is the statement that a transaction begins with that reads and
	// writes many rows; empty where none is needed.
	bulk() string

	// clock is an expression of the database's own time, in microseconds.
	clock() string

	// least and greatest are the functions of the least and the greatest of
	// several values.
	least() string
	greatest() string

	// primaryKeys is a query for the tables of the schema that have a primary key,
	// in order; empty where no database is restored table by table.
	primaryKeys() string

	// readOnly is a query that tells 1 where the database takes no writes, else 0.
	readOnly() string

	// backup writes a copy of the whole database, as it is at one moment, to a
	// new file.
	backup(ctx context.Context, config Config, path string) error

	// describe names the database without its secrets.
	describe(config Config) string
}

// pools are what a store is connected by. Who waits in one of them waits for
// nobody in another: queries are answered while writes wait for each other, and
// both while a publication reads, or a sweep waits for a table.
type pools struct {
	read   *sql.DB // queries
	write  *sql.DB // writes; on SQLite a single connection
	long   *sql.DB // snapshots, of whose queries each may take its time
	house  *sql.DB // what is done aside (Aside); nil on SQLite, where nobody else holds a table
	upkeep *sql.DB // migrations and what else writes for long
	closer io.Closer
	home   *home // nil on PostgreSQL
	stats  []func() PoolStats

	lockWaits *lockWaits // nil on SQLite
	lockGiven bool       // the address says how long to wait for a lock

	identity func() string // an expression that differs between databases, and stays while one lives
	reset    func()        // has each connection made anew once it is free
}

// fault is what an engine's error means.
type fault int

const (
	faultOther     fault = iota
	faultDuplicate       // a unique constraint
	faultCheck           // a check constraint
	faultRetry           // lost to another transaction; run it again
	faultEnded           // the database ended a transaction that stood still, and rolled it back; run it again
	faultHeld            // another transaction held what it is about for too long
	faultAway            // no connection, or a lost one
	faultSlow            // it took longer than it may
	faultReadOnly        // a database that takes no writes
	faultFull            // no room on its disk
	faultMissing         // a table or a column that there was before is not there
)

// dialectOf picks the engine by the form of the address.
func dialectOf(address string) (dialect, error) {
	switch {
	case strings.HasPrefix(address, "postgres://"), strings.HasPrefix(address, "postgresql://"):
		return postgresDialect{}, nil
	case strings.HasPrefix(address, "file:"):
		return sqliteDialect{}, nil
	}
	return nil, fmt.Errorf("the database URL must start with file: or postgres://, for example file:portico.db")
}

// closers close in order, and tell the first error.
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
