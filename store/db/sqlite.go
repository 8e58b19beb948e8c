package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

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
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // a folder is not made: the path may be mistyped
		return pools{}, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return pools{}, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
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
		return pools{}, err
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
	return pools{read: read, write: write, long: read, upkeep: write, closer: closers{read, write}, home: where, reset: func() {},
		identity: func() string { return `'one file'` }, // of which home knows
		stats:    []func() PoolStats{statsOf("read", read), statsOf("write", write)}}, nil
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

func (sqliteDialect) lockMigrations(ctx context.Context, config Config) (func(), error) {
	return lockFile(ctx, config.sqliteFile()+".lock", config.Log)
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

func (sqliteDialect) unreachable(error) bool   { return true } // it has no network
func (sqliteDialect) oneWriter() bool          { return true }
func (sqliteDialect) snapshot() *sql.TxOptions { return nil }
func (sqliteDialect) analyze(string) string    { return "" }
func (sqliteDialect) forUpdate(string) string  { return "" } // it has the whole database

// batch is short, for every other write waits for it.
func (sqliteDialect) batch() batchBounds { return batchBounds{5 * time.Millisecond, 16} }

func (sqliteDialect) lockTimeout(time.Duration) string { return "" }
func (sqliteDialect) oldestTransaction() string        { return "" }
func (sqliteDialect) skipLocked(string) string         { return "" }
func (sqliteDialect) bulk() string                     { return "" }
func (sqliteDialect) primaryKeys() string              { return "" }
func (sqliteDialect) readOnly() string                 { return "SELECT 0" }
func (sqliteDialect) clock() string                    { return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)" }
func (sqliteDialect) least() string                    { return "MIN" }
func (sqliteDialect) greatest() string                 { return "MAX" }
func (sqliteDialect) explain(query string) string      { return "EXPLAIN QUERY PLAN " + query }

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
