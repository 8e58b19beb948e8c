package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"portico/store"
)

// This file is the only one that knows two engines exist. Queries are one
// text for both, written for PostgreSQL; what differs is how a database is
// opened, how one writes to it, what its errors mean, and a few words of DDL.

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
	lockMigrations(config Config) (unlock func(), err error)

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

	// explain makes a query tell its plan.
	explain(query string) string

	// analyze is the statement that tells the planner what some tables hold
	// now; empty where it plans as well without.
	analyze(tables []string) string

	// bulk is the statement that a transaction begins with that reads and
	// writes many rows; empty where none is needed.
	bulk() string

	// clock is an expression of the database's own time, in microseconds.
	clock() string

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
// both while a publication reads.
type pools struct {
	read   *sql.DB // queries
	write  *sql.DB // writes; on SQLite a single connection
	long   *sql.DB // snapshots, of whose queries each may take its time
	upkeep *sql.DB // migrations and what else writes for long
	closer io.Closer
	home   *home // nil on PostgreSQL
	stats  []func() PoolStats
}

// fault is what an engine's error means.
type fault int

const (
	faultOther     fault = iota
	faultDuplicate       // a unique constraint
	faultCheck           // a check constraint
	faultRetry           // lost to another transaction; run it again
	faultHeld            // another transaction held what it is about for too long
	faultAway            // no connection, or a lost one
	faultSlow            // it took longer than it may
	faultReadOnly        // a database that takes no writes
	faultFull            // no room on its disk
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

// SQLite

type sqliteDialect struct{}

// SQLiteFile is the file of a file: URL; embedded is false for another URL.
func SQLiteFile(address string) (path string, embedded bool) {
	path, embedded = strings.CutPrefix(address, "file:")
	path, _, _ = strings.Cut(path, "?")
	path = strings.TrimPrefix(path, "//")
	if decoded, err := url.PathUnescape(path); err == nil {
		path = decoded
	}
	return path, embedded
}

func (c Config) sqliteFile() string {
	path, _ := SQLiteFile(c.URL)
	return path
}

// sqliteDSN puts everything into the DSN, because a PRAGMA by Exec reaches
// one connection of the pool only.
func sqliteDSN(config Config, pragmas ...string) string {
	synchronous := config.Synchronous
	if synchronous == "" {
		synchronous = "FULL"
	}
	values := url.Values{"_pragma": append([]string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(" + synchronous + ")",
		"foreign_keys(1)", "temp_store(MEMORY)",
	}, pragmas...)}
	return "file:" + (&url.URL{Path: config.sqliteFile()}).EscapedPath() + "?" + values.Encode()
}

func (sqliteDialect) open(ctx context.Context, config Config) (pools, error) {
	path := config.sqliteFile()
	if path == "" || path == ":memory:" || strings.Contains(config.URL, "mode=memory") {
		return pools{}, errors.New("the database must be a file, for example file:portico.db; an in-memory one has no second connection")
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return pools{}, err
	}
	if err := ownFile(path, config.Log); err != nil {
		return pools{}, err
	}
	where := newHome(path)
	// A log of 16 MiB takes what is written again and again to the file a quarter
	// as often as one of 4. A publication reads one state for minutes, and the log
	// grows meanwhile; the disk has it back once that is over.
	write, err := openAt(where, sqliteDSN(config, "cache_size(-65536)", "wal_autocheckpoint(4000)", "journal_size_limit("+strconv.Itoa(logKept)+")"))
	if err != nil {
		return pools{}, err
	}
	write.SetMaxOpenConns(1)
	if err := patiently(ctx, write.PingContext); err != nil { // creates the file before readers look for it
		write.Close()
		return pools{}, fmt.Errorf("open %s: %w", path, err)
	}
	if err := where.remember(); err != nil {
		write.Close()
		return pools{}, err
	}
	read, err := openAt(where, sqliteDSN(config, "query_only(1)", "cache_size(-16384)"))
	if err != nil {
		write.Close()
		return pools{}, err
	}
	readers := config.Readers
	if readers == 0 {
		readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	return pools{read: read, write: write, long: read, upkeep: write, closer: closers{read, write}, home: where,
		stats: []func() PoolStats{statsOf("read", read), statsOf("write", write)}}, nil
}

// ownFile makes the file where none is, for its owner only: the log and its
// index, which SQLite makes, are then as private.
func ownFile(path string, log *slog.Logger) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return file.Close()
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 && log != nil {
		log.Warn("others can read the database; take the right from them, from its -wal and -shm files too", "file", path, "mode", info.Mode().Perm().String())
	}
	return nil // what cannot be made or looked at, opening tells
}

// logKept is how large a log is left to be written anew, in bytes.
const logKept = 32 << 20

// openAt is a pool of connections to one file.
func openAt(where *home, dsn string) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(here{connector, where}), nil
}

// patiently connects to a file that other processes may be opening for the
// first time: the change to WAL does not wait its turn, whatever the busy
// timeout.
func patiently(ctx context.Context, connect func(context.Context) error) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := connect(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || (sqliteDialect{}).classify(err) != faultRetry {
			return err
		}
	}
}

func (sqliteDialect) ddl(text string) string {
	return strings.NewReplacer(` COLLATE "C"`, ``, `BYTEA`, `BLOB`, `BIGINT /* ROWID */`, `INTEGER`, `strpos(`, `instr(`, `/* WITHOUT ROWID */`, `WITHOUT ROWID`).Replace(text)
}

func (sqliteDialect) hasTable() string {
	return `SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = $1`
}

func (sqliteDialect) goose(Config) (goose.Dialect, []goose.ProviderOption, error) {
	return goose.DialectSQLite3, nil, nil
}

func (sqliteDialect) lockMigrations(config Config) (func(), error) {
	return lockFile(config.sqliteFile() + ".lock")
}

func (sqliteDialect) classify(err error) fault {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return faultOther
	}
	switch failure.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return faultDuplicate
	case sqlite3.SQLITE_CONSTRAINT_CHECK:
		return faultCheck
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return faultRetry
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return faultAway
	case sqlite3.SQLITE_FULL:
		return faultFull
	case sqlite3.SQLITE_READONLY:
		return faultReadOnly
	case sqlite3.SQLITE_INTERRUPT: // the end of a context
		return faultSlow
	}
	return faultOther
}

func (sqliteDialect) unreachable(error) bool      { return true } // it has no network
func (sqliteDialect) oneWriter() bool             { return true }
func (sqliteDialect) snapshot() *sql.TxOptions    { return nil }
func (sqliteDialect) analyze([]string) string     { return "" }
func (sqliteDialect) forUpdate(string) string     { return "" } // it has the whole database
func (sqliteDialect) bulk() string                { return "" }
func (sqliteDialect) readOnly() string            { return "SELECT 0" }
func (sqliteDialect) clock() string               { return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)" }
func (sqliteDialect) explain(query string) string { return "EXPLAIN QUERY PLAN " + query }

// backup needs a connection that may write: on one that may not, VACUUM INTO
// leaves an empty file and no error.
func (sqliteDialect) backup(ctx context.Context, config Config, path string) error {
	db, err := sql.Open("sqlite", sqliteDSN(config))
	if err != nil {
		return err
	}
	defer db.Close()
	if err := ownFile(path, nil); err != nil { // SQLite takes an empty file, and would make one that others can read
		return err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
		return err
	}
	return checkBackup(ctx, db, path)
}

// checkBackup finds out whether a copy is whole: sound, and with something in
// every table that has something.
func checkBackup(ctx context.Context, original *sql.DB, path string) error {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	copied := Session{on: db}
	if sound, _, err := One(ctx, copied, Scalar[string], `PRAGMA quick_check(1)`); err != nil || sound != "ok" {
		return fmt.Errorf("the copy is damaged (%s): %w", sound, cmp.Or(err, errors.New("its pages do not fit together")))
	}
	tables, err := Collect(ctx, Session{on: original}, Scalar[string], `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		has := `SELECT 1 FROM "` + table + `" LIMIT 1`
		_, wanted, err := One(ctx, Session{on: original}, Scalar[int], has)
		if err != nil {
			return err
		}
		if _, found, err := One(ctx, copied, Scalar[int], has); err != nil || wanted && !found {
			return fmt.Errorf("the copy lacks the rows of %s: %w", table, cmp.Or(err, errors.New("it has none")))
		}
	}
	return nil
}

func (sqliteDialect) describe(config Config) string { return "SQLite " + config.sqliteFile() }

// PostgreSQL

type postgresDialect struct{}

// open makes three pools of the size that the address or config names; the
// third is only as large as what it is for.
func (postgresDialect) open(ctx context.Context, config Config) (pools, error) {
	base, err := pgxpool.ParseConfig(config.URL)
	if err != nil {
		return pools{}, errors.New("the database URL is not a PostgreSQL address; it looks like postgres://user@host:5432/database")
	}
	if config.Readers > 0 {
		base.MaxConns = int32(config.Readers)
	}
	patience := config.Patience.OrDefault()
	base.PingTimeout = patience.Connection
	if base.ConnConfig.ConnectTimeout == 0 || base.ConnConfig.ConnectTimeout > patience.Connection {
		base.ConnConfig.ConnectTimeout = patience.Connection
	}
	base.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: connectionAlive}).DialContext
	var p pools
	var all closers
	for _, pool := range []struct {
		name     string
		db       **sql.DB
		most     int32
		wait     time.Duration
		settings map[string]time.Duration
	}{
		{"read", &p.read, base.MaxConns, patience.Connection, map[string]time.Duration{"statement_timeout": patience.Read}},
		{"write", &p.write, base.MaxConns, patience.Connection, map[string]time.Duration{
			"statement_timeout": patience.Write, "lock_timeout": patience.Lock, "idle_in_transaction_session_timeout": patience.Idle,
		}},
		{"long", &p.long, min(base.MaxConns, longReaders), 0, nil},
	} {
		own := base.Copy()
		own.MaxConns = pool.most
		own.MinConns = min(own.MinConns, pool.most)
		for name, bound := range pool.settings {
			if _, given := own.ConnConfig.RuntimeParams[name]; !given { // the address has the last word
				own.ConnConfig.RuntimeParams[name] = milliseconds(bound)
			}
		}
		opened, err := pgxpool.NewWithConfig(ctx, own)
		if err != nil {
			return pools{}, errors.Join(err, all.Close())
		}
		connector := stdlib.GetPoolConnector(opened)
		if pool.wait > 0 {
			connector = patientConnector{connector, pool.wait}
		}
		*pool.db = sql.OpenDB(connector)
		(*pool.db).SetMaxIdleConns(0) // the pool beneath keeps them
		all = append(all, *pool.db, closerFunc(opened.Close))
		p.stats = append(p.stats, statsBeneath(pool.name, opened))
	}
	if err := p.read.PingContext(ctx); err != nil {
		return pools{}, errors.Join(fmt.Errorf("connect to PostgreSQL at %s: %w", base.ConnConfig.Host, err), all.Close())
	}
	p.upkeep, p.closer = p.long, all
	return p, nil
}

// longReaders is how many snapshots are read at once at most: by the jobs of a
// server, by an export, and for the live stock.
const longReaders = 4

// connectionAlive finds out that the other side is gone, when nothing says so.
var connectionAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 3 * time.Second, Count: 3}

func (postgresDialect) ddl(text string) string { return text }

func (postgresDialect) hasTable() string {
	return `SELECT CAST(to_regclass($1) IS NOT NULL AS INT)`
}

func (postgresDialect) goose(Config) (goose.Dialect, []goose.ProviderOption, error) {
	locker, err := lock.NewPostgresTableLocker()
	if err != nil {
		return "", nil, err
	}
	return goose.DialectPostgres, []goose.ProviderOption{goose.WithLocker(locker)}, nil
}

// lockMigrations leaves it to goose's table locker.
func (postgresDialect) lockMigrations(Config) (func(), error) { return func() {}, nil }

func (postgresDialect) classify(err error) fault {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) { // whatever the reason that the server gave
		return faultAway
	}
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		var network net.Error
		if errors.Is(err, errNoConnection) || errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
			errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) {
			return faultAway
		}
		return faultOther
	}
	switch failure.Code {
	case "23505":
		return faultDuplicate
	case "23514":
		return faultCheck
	case "40001", "40P01", "25P03", "25P04": // the last two: the database ended it, and rolled it back
		return faultRetry
	case "55P03":
		return faultHeld
	case "57014":
		return faultSlow
	case "25006":
		return faultReadOnly
	case "53100":
		return faultFull
	case "57P01", "57P02", "57P03", "57P04", "57P05", "53000", "53200", "53300", "53400", "58000", "58030":
		return faultAway
	}
	if strings.HasPrefix(failure.Code, "08") { // the connection
		return faultAway
	}
	return faultOther
}

func (postgresDialect) unreachable(err error) bool {
	var connect *pgconn.ConnectError
	return errors.Is(err, errNoConnection) || errors.As(err, &connect)
}

func (postgresDialect) oneWriter() bool { return false }
func (postgresDialect) snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}
func (postgresDialect) analyze(tables []string) string {
	return "ANALYZE " + strings.Join(tables, ", ")
}
func (postgresDialect) forUpdate(table string) string { return " FOR UPDATE OF " + table }

// bulk has keys looked up in their index: a plan that was made while a table
// was small reads all of it, and is kept while it grows.
func (postgresDialect) bulk() string { return "SET LOCAL enable_seqscan = off" }

func (postgresDialect) explain(query string) string { return "EXPLAIN " + query }
func (postgresDialect) clock() string {
	return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
}
func (postgresDialect) readOnly() string {
	return `SELECT CASE WHEN current_setting('transaction_read_only') = 'on' THEN 1 ELSE 0 END`
}
func (postgresDialect) backup(context.Context, Config, string) error {
	return store.Unprocessablef(nil, "PostgreSQL has tools of its own for this: pg_dump --format=custom, and pg_restore")
}

func (postgresDialect) describe(config Config) string {
	if parsed, err := pgx.ParseConfig(config.URL); err == nil {
		return "PostgreSQL " + parsed.Host + "/" + parsed.Database
	}
	return "PostgreSQL"
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
