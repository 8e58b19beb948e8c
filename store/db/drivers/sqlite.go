package drivers

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
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"portico/store/db/dialect"
)

type sqliteDialect struct{}

// sqliteFile returns the path of the database file.
func sqliteFile(config dialect.Config) string {
	path, _ := dialect.SQLiteFile(config.URL)
	return path
}

// sqliteDSN sets every pragma in the DSN, because Exec reaches only one connection of
// the pool.
func sqliteDSN(config dialect.Config, pragmas ...string) string {
	values := url.Values{"_pragma": append([]string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(" + cmp.Or(config.Synchronous, "FULL") + ")",
		"foreign_keys(1)", "temp_store(MEMORY)",
	}, pragmas...)}
	return "file:" + (&url.URL{Path: sqliteFile(config)}).EscapedPath() + "?" + values.Encode()
}

func (d sqliteDialect) Open(ctx context.Context, config dialect.Config) (dialect.Pools, error) {
	path := sqliteFile(config)
	if path == "" || path == ":memory:" || strings.Contains(config.URL, "mode=memory") {
		return dialect.Pools{}, errors.New("the database must be a file, for example file:portico.db; in-memory databases are not supported")
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // do not create a folder: the path may be mistyped
		return dialect.Pools{}, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	if err := d.Check(ctx, config); err != nil {
		return dialect.Pools{}, err
	}
	if err := cmp.Or(createPrivateFile(path, config.Log), registerVisits()); err != nil {
		return dialect.Pools{}, err
	}
	guard := dialect.NewFileGuard(path)
	write, err := openFile(guard, sqliteDSN(config, "cache_size(-65536)", "wal_autocheckpoint("+strconv.Itoa(config.LogPages)+")", "journal_size_limit("+strconv.Itoa(walSizeLimit)+")"))
	if err != nil {
		return dialect.Pools{}, err
	}
	write.SetMaxOpenConns(1)
	if err := retryBusy(ctx, write.PingContext); err != nil { // creates the file before readers open it
		write.Close()
		return dialect.Pools{}, err
	}
	if err := guard.Remember(); err != nil {
		write.Close()
		return dialect.Pools{}, err
	}
	read, err := openFile(guard, sqliteDSN(config, "query_only(1)", "cache_size(-"+strconv.Itoa(readerCacheKiB)+")"))
	if err != nil {
		write.Close()
		return dialect.Pools{}, err
	}
	readers := config.Readers
	if readers == 0 {
		readers = max(4, 2*runtime.GOMAXPROCS(0))
	}
	read.SetMaxOpenConns(readers)
	read.SetMaxIdleConns(readers)
	// A publication also reads outside of its snapshot, so snapshots must not take the readers.
	snapshots, err := openFile(guard, sqliteDSN(config, "query_only(1)", "cache_size(-65536)"))
	if err != nil {
		return dialect.Pools{}, errors.Join(err, read.Close(), write.Close())
	}
	snapshots.SetMaxOpenConns(maxSnapshots)
	snapshots.SetMaxIdleConns(1)
	snapshots.SetConnMaxIdleTime(time.Minute)
	checkpoints, err := openFile(guard, sqliteDSN(config, "query_only(1)"))
	if err != nil {
		return dialect.Pools{}, errors.Join(err, snapshots.Close(), read.Close(), write.Close())
	}
	checkpoints.SetMaxOpenConns(1)
	all := closers{checkpoints, read, write, snapshots}
	watched, err := guard.Watch(ctx, checkpoints)
	if all = append(all, watched...); err != nil {
		return dialect.Pools{}, errors.Join(err, all.Close())
	}
	return dialect.Pools{Read: read, Write: write, Snapshots: snapshots, Checkpoints: checkpoints, Maintenance: write, Closer: all, FileGuard: guard, Reset: func() {},
		Identity: func() string { return `'one file'` }, // the FileGuard watches the file
		Stats:    []func() dialect.PoolStats{sqlPoolStats("read", read), sqlPoolStats("long", snapshots), sqlPoolStats("write", write)}}, nil
}

func (sqliteDialect) OpenStandby(context.Context, dialect.Config, func() string) (dialect.StandbyPool, error) {
	return dialect.StandbyPool{}, errors.New("a SQLite database has no standby: --read-database-url needs PostgreSQL in --database-url")
}

// createPrivateFile creates a missing file readable by its owner only, which SQLite's log files
// inherit. It logs a warning if others may read an existing one.
func createPrivateFile(path string, log *slog.Logger) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		return file.Close()
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 && log != nil {
		log.Warn("other users can read the database; remove their permission on the file and its -wal and -shm files", "file", path, "mode", info.Mode().Perm().String())
	}
	return nil // opening reports other errors
}

// readerCacheKiB is the page cache of each connection for reads, in KiB. The cache of releases and the operating system
// have what is read often. With 16 MiB, pages of products that are not in memory take as much CPU.
const readerCacheKiB = 2048

// walSizeLimit is the size to which a checkpoint truncates the write-ahead log, in bytes.
const walSizeLimit = 32 << 20

// openFile opens a pool of connections to one file.
func openFile(guard *dialect.FileGuard, dsn string) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(guard.Connector(connector)), nil
}

// retryBusy retries connect for up to 10 seconds while other processes open the file
// for the first time: switching to WAL ignores the busy timeout.
func retryBusy(ctx context.Context, connect func(context.Context) error) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := connect(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || (sqliteDialect{}).Classify(err) != dialect.Retry {
			return err
		}
	}
}

// DDL replaces what SQLite does not know. Comments in migrations mark where it needs another text than PostgreSQL.
func (sqliteDialect) DDL(text string) string {
	return strings.NewReplacer(` COLLATE "C"`, ``, `BYTEA`, `BLOB`, `BIGINT /* ROWID */`, `INTEGER`, `) STORED`, `) VIRTUAL`, `CAST(gen_random_uuid() AS TEXT)`, `lower(hex(randomblob(16)))`, `/* WITHOUT ROWID */`, `WITHOUT ROWID`).Replace(text)
}

func (sqliteDialect) Damage() string {
	return `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`
}

func (sqliteDialect) Tables() string {
	return fmt.Sprintf(`SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'
		UNION ALL SELECT 'those of application_id ' || application_id FROM pragma_application_id WHERE application_id NOT IN (0, %d) ORDER BY 1`, applicationID)
}

// applicationID is in the header of a file, at offset 68, where the command file and SQLite's own tools show it: Ptco in ASCII.
const applicationID = 0x5074636f

func (sqliteDialect) Mark(version int) string {
	return fmt.Sprintf("PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", applicationID, version)
}

func (sqliteDialect) Columns() string {
	return `SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'goose%' AND c.hidden = 0 ORDER BY m.name, c.cid`
}

func (sqliteDialect) Goose(*slog.Logger) (goose.Dialect, []goose.ProviderOption, error) {
	return goose.DialectSQLite3, nil, nil
}

func (sqliteDialect) LockMigrations(ctx context.Context, databaseURL string, log *slog.Logger) (func(), error) {
	path, _ := dialect.SQLiteFile(databaseURL)
	return lockFile(ctx, path+".lock", log)
}

func (sqliteDialect) Classify(err error) dialect.ErrorKind {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return dialect.Other
	}
	switch failure.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return dialect.Duplicate
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return dialect.Retry
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return dialect.Unavailable
	case sqlite3.SQLITE_FULL:
		return dialect.DiskFull
	case sqlite3.SQLITE_READONLY:
		return dialect.ReadOnly
	case sqlite3.SQLITE_INTERRUPT: // a context ended
		return dialect.Timeout
	}
	return dialect.Other
}

func (sqliteDialect) Unreachable(error) bool   { return true } // there is no network
func (sqliteDialect) SingleWriter() bool       { return true }
func (sqliteDialect) Snapshot() *sql.TxOptions { return nil }
func (sqliteDialect) Analyze(string) string    { return "" }
func (sqliteDialect) ForUpdate(string) string  { return "" } // a write locks the whole database
func (sqliteDialect) ForShare(string) string   { return "" }

// Batch is short, because every other write waits for it, and so is a statement, because a job yields between two.
func (sqliteDialect) Batch() dialect.BatchBounds {
	return dialect.BatchBounds{Target: 5 * time.Millisecond, Statement: time.Millisecond / 2, MinRows: 16}
}

func (sqliteDialect) LockTimeout(time.Duration) string { return "" }
func (sqliteDialect) OldestTransaction() string        { return "" }
func (sqliteDialect) SkipLocked(string) string         { return "" }
func (sqliteDialect) Bulk() string                     { return "" }
func (sqliteDialect) PrimaryKeys() string              { return "" }
func (sqliteDialect) ReadOnly() string                 { return "SELECT 0" }
func (sqliteDialect) Clock() string                    { return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)" }
func (sqliteDialect) Least() string                    { return "MIN" }
func (sqliteDialect) Greatest() string                 { return "MAX" }
func (sqliteDialect) Notify() string                   { return "" }
func (sqliteDialect) Explain(query string) string      { return "EXPLAIN QUERY PLAN " + query }

// Backup opens a connection of its own that may write: VACUUM INTO on a read-only one
// leaves an empty file without an error.
func (sqliteDialect) Backup(ctx context.Context, config dialect.Config, path string) error {
	guard := dialect.NewFileGuard(sqliteFile(config))
	db, err := openFile(guard, sqliteDSN(config))
	if err == nil {
		err = guard.Remember()
	}
	if err != nil {
		return err
	}
	defer db.Close()
	if err := createPrivateFile(path, nil); err != nil { // SQLite accepts an empty file; it would create one that others can read
		return err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
		if (sqliteDialect{}).Classify(err) == dialect.DiskFull { // of the copy: the database is only read
			err = &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
		}
		return err
	}
	return cmp.Or(checkBackup(ctx, db, path), guard.Check())
}

// checkBackup verifies that the copy is sound and that no table lost all its rows.
func checkBackup(ctx context.Context, original *sql.DB, path string) error {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	read, copied := dialect.NewReader(original), dialect.NewReader(db)
	if sound, err := copied(ctx, `PRAGMA quick_check(1)`); err != nil || !slices.Equal(sound, []string{"ok"}) {
		return fmt.Errorf("the backup is damaged (%s): %w", strings.Join(sound, ""), cmp.Or(err, errors.New("quick_check failed")))
	}
	tables, err := read(ctx, `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		has := `SELECT 1 FROM "` + table + `" LIMIT 1`
		wanted, err := read(ctx, has)
		if err != nil {
			return err
		}
		if found, err := copied(ctx, has); err != nil || len(found) < len(wanted) {
			return fmt.Errorf("the backup lacks the rows of %s: %w", table, cmp.Or(err, errors.New("the table is empty")))
		}
	}
	return nil
}

func (sqliteDialect) Describe(databaseURL string) string {
	path, _ := dialect.SQLiteFile(databaseURL)
	return "SQLite " + path
}

// Check takes an empty file for one without tables: to read it would create a log.
func (d sqliteDialect) Check(ctx context.Context, config dialect.Config) error {
	path := sqliteFile(config)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return config.Check(ctx, nil)
	case err == nil && info.Size() == 0:
		return config.Check(ctx, func(context.Context, string) ([]string, error) { return nil, nil })
	}
	return d.OpenReadOnly(ctx, config.URL, func(pool *sql.DB) error { return config.Check(ctx, dialect.NewReader(pool)) })
}

// OpenReadOnly changes nothing, not even the files beside the database.
func (sqliteDialect) OpenReadOnly(ctx context.Context, databaseURL string, fn func(*sql.DB) error) error {
	path, _ := dialect.SQLiteFile(databaseURL)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	case info.Size() == 0:
		return nil
	}
	mode := "mode=ro"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		mode += "&immutable=1" // else SQLite creates a log beside a file that had one
	}
	pool, err := openFile(dialect.NewFileGuard(path), "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+mode+"&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := retryBusy(ctx, pool.PingContext); err != nil {
		return err
	}
	return fn(pool)
}
