// Package dialect describes what differs between SQLite and PostgreSQL: it opens connections, names the meaning of
// a driver's errors, and has the SQL that is not the same. Dialect is one of the two, Pools are the connections to a
// database. Package drivers implements both with their drivers. This package imports no driver, so that a package
// whose tests need no database links none.
package dialect

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/pressly/goose/v3"

	"portico/store"
)

// Dialect is what differs between SQLite and PostgreSQL: opening, write concurrency,
// error codes and a little DDL. Queries are one text for both, written for
// PostgreSQL.
type Dialect interface {
	// Open connects to the database.
	Open(ctx context.Context, config Config) (Pools, error)

	// OpenStandby creates the pool for Config.ReadURL. identityExpression returns the SQL for
	// the identity of a database. It does not connect.
	OpenStandby(ctx context.Context, config Config, identityExpression func() string) (StandbyPool, error)

	// DDL converts a migration to this dialect.
	DDL(text string) string

	// Damage is a query that selects a text for each damaged page or index.
	Damage() string

	// Tables is a query for the names of all tables and views, without those of extensions. On SQLite it also
	// returns the application_id of another application.
	Tables() string

	// Mark are statements that mark a SQLite file as Portico's (application_id) at a version of the schema
	// (user_version). It is empty on PostgreSQL, whose only mark is the row min_binary of store_meta.
	Mark(version int) string

	// Columns is a query for table, name and type of each column that can be written, without the
	// migrator's, in the order of their tables and places.
	Columns() string

	// Goose returns the migrator's dialect and how to lock out other processes.
	Goose(log *slog.Logger) (goose.Dialect, []goose.ProviderOption, error)

	// LockMigrations keeps other processes from migrating until unlock.
	LockMigrations(ctx context.Context, databaseURL string, log *slog.Logger) (unlock func(), err error)

	// Classify returns what a driver error means.
	Classify(err error) ErrorKind

	// Unreachable reports whether err means that no connection could be opened.
	Unreachable(err error) bool

	// SingleWriter reports whether writes are queued to a single connection.
	SingleWriter() bool

	// Snapshot returns the options of a transaction whose reads see one state.
	Snapshot() *sql.TxOptions

	// ForUpdate is a suffix that locks the rows of table that a query returns, in its
	// order, until the transaction ends.
	ForUpdate(table string) string

	// ForShare is like ForUpdate, but lets other transactions lock the rows in the same way.
	ForShare(table string) string

	// SkipLocked is like ForUpdate, but skips rows that another transaction has locked.
	SkipLocked(table string) string

	// LockTimeout is a statement that sets the transaction's lock timeout; empty if
	// the database has none.
	LockTimeout(d time.Duration) string

	// OldestTransaction is a query that describes the longest open transaction of
	// another session.
	OldestTransaction() string

	// Batch bounds the size of batches.
	Batch() BatchBounds

	// Explain is a query that returns the plan of query.
	Explain(query string) string

	// Analyze is a statement that updates the statistics of a table; empty if not needed.
	Analyze(table string) string

	// Bulk is a statement that begins a transaction over many rows; empty if not needed.
	Bulk() string

	// Clock is an expression for the database's time in microseconds.
	Clock() string

	// Least and Greatest name the functions for the smallest and largest of their arguments.
	Least() string
	Greatest() string

	// PrimaryKeys is a query for the tables with a primary key, sorted; empty if
	// databases are never restored table by table.
	PrimaryKeys() string

	// ReadOnly is a query that returns 1 if the database rejects writes, else 0.
	ReadOnly() string

	// Notify is a query that sends a notification to all listeners, with the sender's name
	// as $1; empty if the database has no notifications.
	Notify() string

	// Check calls Config.Check with what a SQLite file holds, before it is opened for writes, which creates it,
	// or switches it to a write-ahead log. It does nothing on PostgreSQL.
	Check(ctx context.Context, config Config) error

	// OpenReadOnly calls fn with a read-only pool on an existing SQLite file. It does not call fn if the file is missing or
	// empty, and returns an error on PostgreSQL.
	OpenReadOnly(ctx context.Context, databaseURL string, fn func(*sql.DB) error) error

	// Backup writes a consistent copy of the database to a new file.
	Backup(ctx context.Context, config Config, path string) error

	// Describe names the database without credentials.
	Describe(databaseURL string) string
}

// Config says which database to open and how.
type Config struct {
	URL         string
	ReadURL     string // PostgreSQL only: a standby
	Readers     int    // read connections (SQLite) or pool size (PostgreSQL); 0 means the default
	Synchronous string // SQLite only; empty means FULL
	LogPages    int    // SQLite only: pages of the write-ahead log above which each commit copies it
	Timeouts    store.Timeouts
	TryLock     time.Duration // PostgreSQL only: longest wait for a lock in the pool for writes
	Log         *slog.Logger  // nil discards

	Check      func(ctx context.Context, read Reader) error // decides whether a SQLite file may be opened; read is nil if there is none
	Identified func(identity string)                        // called with the identity that each new connection to PostgreSQL reads
}

// Reader returns the first column of a query, as text.
type Reader func(ctx context.Context, query string) ([]string, error)

// NewReader returns the reader of a pool.
func NewReader(pool *sql.DB) Reader {
	return func(ctx context.Context, query string) (list []string, err error) {
		rows, err := pool.QueryContext(ctx, query)
		if err == nil {
			defer rows.Close()
			for rows.Next() && err == nil {
				list = append(list, "")
				err = rows.Scan(&list[len(list)-1])
			}
			err = cmp.Or(err, rows.Err())
		}
		if err != nil && ctx.Err() != nil { // each driver reports the end of a context differently
			err = fmt.Errorf("%w: %w", ctx.Err(), err)
		}
		return list, err
	}
}

// Pools are the connection pools of a database. They are separate so that reads do
// not wait for writes, and neither waits for publications and sweeps.
type Pools struct {
	Read        *sql.DB            // queries
	Write       *sql.DB            // writes; on SQLite a single connection
	Snapshots   *sql.DB            // snapshots, whose queries have no timeout
	Background  *sql.DB            // background jobs (WithBackgroundPool); nil on SQLite
	Checkpoints *sql.DB            // copies of SQLite's write-ahead log; nil on PostgreSQL
	Maintenance *sql.DB            // migrations and other long writes: Write on SQLite; Snapshots, without timeouts, on PostgreSQL
	Closer      io.Closer          // of all pools
	FileGuard   *FileGuard         // nil on PostgreSQL
	Stats       []func() PoolStats // of each pool

	MaxWrites      int  // size of the pool for writes; 0 on SQLite
	LockTimeoutSet bool // the URL sets lock_timeout, so writes do not shorten it

	Listen func(ctx context.Context) (Listener, error) // opens a connection that receives notifications; nil on SQLite

	Identity func() string // an expression that differs between databases and is stable for one
	Reset    func()        // reconnects each connection once it is free
}

// StandbyPool is what a dialect opens for a standby.
type StandbyPool struct {
	DB     *sql.DB
	Closer io.Closer
	Reset  func() // reconnects each connection once it is free
	Stats  func() PoolStats
}

// Listener receives notifications.
type Listener interface {
	Wait(ctx context.Context) (sender string, err error) // the sender of the next one
	Close()
}

// ErrorKind is the meaning of a driver error.
type ErrorKind int

// The kinds of errors.
const (
	Other       ErrorKind = iota // no error, or an error of the statement itself
	Duplicate                    // unique constraint
	Retry                        // lost to another transaction; retry
	TxEnded                      // the database ended an idle transaction and rolled it back; retry
	LockTimeout                  // timed out waiting for a lock
	Unavailable                  // no connection, or a lost one
	Timeout                      // statement timeout
	ReadOnly                     // the database rejects writes
	DiskFull                     // disk full
	Missing                      // a table or column that existed is missing
)

// BatchBounds bounds a batch.
type BatchBounds struct {
	Target    time.Duration // target time of a batch before its commit
	Statement time.Duration // target time of one statement; at least Target for one statement a transaction
	MinRows   int           // least rows, however long they take
}
