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

// SQLiteFile returns the path of a file: URL; embedded is false for another URL.
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

// sqliteDSN sets every pragma in the DSN, because Exec reaches only one connection of
// the pool.
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

func (d sqliteDialect) open(ctx context.Context, config Config) (pools, error) {
	path := config.sqliteFile()
	if path == "" || path == ":memory:" || strings.Contains(config.URL, "mode=memory") {
		return pools{}, errors.New("the database must be a file, for example file:portico.db; in-memory databases are not supported")
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil { // do not create a folder: the path may be mistyped
		return pools{}, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return pools{}, &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if err := d.checkFile(ctx, config); err != nil {
		return pools{}, err
	}
	if err := cmp.Or(createPrivateFile(path, config.Log), registerVisits()); err != nil {
		return pools{}, err
	}
	where := newFileGuard(path)
	write, err := openFile(where, sqliteDSN(config, "cache_size(-65536)", "wal_autocheckpoint("+strconv.Itoa(config.logPages())+")", "journal_size_limit("+strconv.Itoa(walSizeLimit)+")"))
	if err != nil {
		return pools{}, err
	}
	write.SetMaxOpenConns(1)
	if err := retryBusy(ctx, write.PingContext); err != nil { // creates the file before readers open it
		write.Close()
		return pools{}, err
	}
	if err := where.remember(); err != nil {
		write.Close()
		return pools{}, err
	}
	read, err := openFile(where, sqliteDSN(config, "query_only(1)", "cache_size(-"+strconv.Itoa(readerCacheKiB)+")"))
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
	// A publication also reads outside of its snapshot, so snapshots must not take the readers.
	snapshots, err := openFile(where, sqliteDSN(config, "query_only(1)", "cache_size(-65536)"))
	if err != nil {
		return pools{}, errors.Join(err, read.Close(), write.Close())
	}
	snapshots.SetMaxOpenConns(maxSnapshots)
	snapshots.SetMaxIdleConns(1)
	snapshots.SetConnMaxIdleTime(time.Minute)
	checkpoints, err := openFile(where, sqliteDSN(config, "query_only(1)"))
	if err != nil {
		return pools{}, errors.Join(err, snapshots.Close(), read.Close(), write.Close())
	}
	checkpoints.SetMaxOpenConns(1)
	return pools{read: read, write: write, snapshots: snapshots, checkpoints: checkpoints, maintenance: write, closer: closers{checkpoints, read, write, snapshots}, fileGuard: where, reset: func() {},
		identity: func() string { return `'one file'` }, // home watches the file
		stats:    []func() PoolStats{sqlPoolStats("read", read), sqlPoolStats("long", snapshots), sqlPoolStats("write", write)}}, nil
}

func (sqliteDialect) openStandby(context.Context, Config, func() string) (standbyPool, error) {
	return standbyPool{}, errors.New("a SQLite database has no standby: --read-database-url needs PostgreSQL in --database-url")
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

// logPages is LogPages or its default.
func (c Config) logPages() int { return cmp.Or(c.LogPages, maxLogPages) }

// readerCacheKiB is the page cache of each connection for reads, in KiB. The cache of releases and the operating system
// have what is read often. With 16 MiB, pages of products that are not in memory take as much CPU.
const readerCacheKiB = 2048

// walSizeLimit is the size to which a checkpoint truncates the write-ahead log, in bytes.
const walSizeLimit = 32 << 20

// openFile opens a pool of connections to one file.
func openFile(where *fileGuard, dsn string) (*sql.DB, error) {
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(guardedConnector{connector, where}), nil
}

// retryBusy retries connect for up to 10 seconds while other processes open the file
// for the first time: switching to WAL ignores the busy timeout.
func retryBusy(ctx context.Context, connect func(context.Context) error) error {
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		err := connect(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(deadline) || (sqliteDialect{}).classify(err) != kindRetry {
			return err
		}
	}
}

func (sqliteDialect) ddl(text string) string {
	return strings.NewReplacer(` COLLATE "C"`, ``, `BYTEA`, `BLOB`, `BIGINT /* ROWID */`, `INTEGER`, `) STORED`, `) VIRTUAL`, `CAST(gen_random_uuid() AS TEXT)`, `lower(hex(randomblob(16)))`, `/* WITHOUT ROWID */`, `WITHOUT ROWID`).Replace(text)
}

func (sqliteDialect) damage() string {
	return `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'`
}

func (sqliteDialect) tables() string {
	return fmt.Sprintf(`SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT GLOB 'sqlite_*'
		UNION ALL SELECT 'those of application_id ' || application_id FROM pragma_application_id WHERE application_id NOT IN (0, %d) ORDER BY 1`, applicationID)
}

// applicationID is in the header of a file, at offset 68, where the command file and SQLite's own tools show it: Ptco in ASCII.
const applicationID = 0x5074636f

func (sqliteDialect) mark(version int) string {
	return fmt.Sprintf("PRAGMA application_id = %d;\nPRAGMA user_version = %d;\n", applicationID, version)
}

func (sqliteDialect) columns() string {
	return `SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name NOT LIKE 'goose%' AND c.hidden = 0 ORDER BY m.name, c.cid`
}

func (sqliteDialect) goose(Config) (goose.Dialect, []goose.ProviderOption, error) {
	return goose.DialectSQLite3, nil, nil
}

func (sqliteDialect) lockMigrations(ctx context.Context, config Config) (func(), error) {
	return lockFile(ctx, config.sqliteFile()+".lock", config.Log)
}

func (sqliteDialect) classify(err error) errorKind {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return kindOther
	}
	switch failure.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return kindDuplicate
	case sqlite3.SQLITE_CONSTRAINT_CHECK:
		return kindCheck
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return kindRetry
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR:
		return kindUnavailable
	case sqlite3.SQLITE_FULL:
		return kindDiskFull
	case sqlite3.SQLITE_READONLY:
		return kindReadOnly
	case sqlite3.SQLITE_INTERRUPT: // a context ended
		return kindTimeout
	}
	return kindOther
}

func (sqliteDialect) unreachable(error) bool   { return true } // there is no network
func (sqliteDialect) singleWriter() bool       { return true }
func (sqliteDialect) snapshot() *sql.TxOptions { return nil }
func (sqliteDialect) analyze(string) string    { return "" }
func (sqliteDialect) forUpdate(string) string  { return "" } // a write locks the whole database
func (sqliteDialect) forShare(string) string   { return "" }

// batch is short, because every other write waits for it.
func (sqliteDialect) batch() batchBounds { return batchBounds{5 * time.Millisecond, workSlice, 16} }

func (sqliteDialect) lockTimeout(time.Duration) string { return "" }
func (sqliteDialect) oldestTransaction() string        { return "" }
func (sqliteDialect) skipLocked(string) string         { return "" }
func (sqliteDialect) bulk() string                     { return "" }
func (sqliteDialect) primaryKeys() string              { return "" }
func (sqliteDialect) readOnly() string                 { return "SELECT 0" }
func (sqliteDialect) clock() string                    { return "CAST(unixepoch('subsec') * 1000000 AS INTEGER)" }
func (sqliteDialect) least() string                    { return "MIN" }
func (sqliteDialect) greatest() string                 { return "MAX" }
func (sqliteDialect) notify() string                   { return "" }
func (sqliteDialect) explain(query string) string      { return "EXPLAIN QUERY PLAN " + query }

// backup opens a connection of its own that may write: VACUUM INTO on a read-only one
// leaves an empty file without an error.
func (d sqliteDialect) backup(ctx context.Context, config Config, path string) error {
	if err := d.checkFile(ctx, config); err != nil {
		return newOpenError(d.describe(config), err)
	}
	guard := newFileGuard(config.sqliteFile())
	db, err := openFile(guard, sqliteDSN(config))
	if err == nil {
		err = guard.remember()
	}
	if err != nil {
		return err
	}
	defer db.Close()
	if err := createPrivateFile(path, nil); err != nil { // SQLite accepts an empty file; it would create one that others can read
		return err
	}
	if _, err := db.ExecContext(ctx, `VACUUM INTO $1`, path); err != nil {
		return err
	}
	return cmp.Or(checkBackup(ctx, db, path), guard.check())
}

// checkBackup verifies that the copy is sound and that no table lost all its rows.
func checkBackup(ctx context.Context, original *sql.DB, path string) error {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	copied := Session{conn: db}
	if sound, _, err := One(ctx, copied, Scalar[string], `PRAGMA quick_check(1)`); err != nil || sound != "ok" {
		return fmt.Errorf("the backup is damaged (%s): %w", sound, cmp.Or(err, errors.New("quick_check failed")))
	}
	tables, err := Collect(ctx, Session{conn: original}, Scalar[string], `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*' ORDER BY name`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		has := `SELECT 1 FROM "` + table + `" LIMIT 1`
		_, wanted, err := One(ctx, Session{conn: original}, Scalar[int], has)
		if err != nil {
			return err
		}
		if _, found, err := One(ctx, copied, Scalar[int], has); err != nil || wanted && !found {
			return fmt.Errorf("the backup lacks the rows of %s: %w", table, cmp.Or(err, errors.New("the table is empty")))
		}
	}
	return nil
}

func (sqliteDialect) describe(config Config) string { return "SQLite " + config.sqliteFile() }

// checkFile checks what the file holds before it is opened for writes, which creates it, or switches it to a
// write-ahead log.
func (d sqliteDialect) checkFile(ctx context.Context, config Config) error {
	files, err := Migrations()
	if err != nil {
		return err
	}
	if _, err := os.Stat(config.sqliteFile()); errors.Is(err, fs.ErrNotExist) && config.Schema != CreateSchema {
		return errNoFile
	}
	var state schemaState
	err = d.inspect(ctx, config.sqliteFile(), func(_ Session, found schemaState) error { state = found; return nil })
	if err == nil {
		err = config.Schema.check(state, len(files))
	}
	return err
}

// inspect calls fn with a session on an existing file, and its schema. It changes nothing, not even the files
// beside it. It does not call fn if the file is missing or empty.
func (d sqliteDialect) inspect(ctx context.Context, path string, fn func(Session, schemaState) error) error {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Size() == 0:
		return nil
	}
	mode := "mode=ro"
	if _, err := os.Stat(path + "-wal"); errors.Is(err, fs.ErrNotExist) {
		mode += "&immutable=1" // else SQLite creates a log beside a file that had one
	}
	pool, err := openFile(newFileGuard(path), "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+mode+"&_pragma=busy_timeout(5000)&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := retryBusy(ctx, pool.PingContext); err != nil {
		return err
	}
	in := Session{conn: pool, classify: func(err error) error { return err }}
	state, err := readSchema(ctx, in, d)
	if err != nil {
		return err
	}
	return fn(in, state)
}

// OpenReadOnly calls fn with a read-only session on an existing SQLite database, without
// migrating it, so any table may be missing. It does not call fn if the file is
// missing or empty, and returns an error for a file of another application.
func OpenReadOnly(ctx context.Context, databaseURL string, fn func(Session) error) error {
	path, _ := SQLiteFile(databaseURL)
	err := sqliteDialect{}.inspect(ctx, path, func(in Session, _ schemaState) error { return fn(in) })
	if err != nil {
		return newOpenError(path, err)
	}
	return nil
}
