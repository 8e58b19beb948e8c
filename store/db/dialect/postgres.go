package dialect

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"portico/store"
)

type postgresDialect struct{}

// Open creates the pools. Config.Readers, or pool_max_conns in the URL, sizes those
// for requests.
func (postgresDialect) Open(ctx context.Context, config Config) (Pools, error) {
	base, err := pgxpool.ParseConfig(config.URL)
	if err != nil {
		return Pools{}, errors.New("the database URL is not a PostgreSQL address; it looks like postgres://user@host:5432/database")
	}
	if config.Readers > 0 {
		base.MaxConns = int32(config.Readers)
	}
	timeouts := config.Timeouts
	base.PingTimeout, base.ShouldPing = timeouts.Connection, shouldPing
	if base.ConnConfig.ConnectTimeout == 0 || base.ConnConfig.ConnectTimeout > timeouts.Connection {
		base.ConnConfig.ConnectTimeout = timeouts.Connection
	}
	base.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	// PgBouncer may share the session of another client's listener with a pool. Its notifications are dropped: pgx would keep
	// them. listenPostgres, whose connection is in no pool, resets this.
	base.ConnConfig.OnNotification = func(*pgconn.PgConn, *pgconn.Notification) {}
	var p Pools
	var all closers
	var resets []func()
	known := &postgresIdentity{}
	writing := map[string]time.Duration{
		"statement_timeout": timeouts.Write, "lock_timeout": timeouts.Lock, "idle_in_transaction_session_timeout": timeouts.Idle,
	}
	trying := maps.Clone(writing) // for requests, which retry (retryLocked)
	trying["lock_timeout"] = min(timeouts.Lock, config.TryLock)
	_, p.LockTimeoutSet = base.ConnConfig.RuntimeParams["lock_timeout"]
	for _, pool := range []struct {
		name     string
		db       **sql.DB
		most     int32                    // connections
		wait     time.Duration            // for a connection; 0 for no limit
		settings map[string]time.Duration // of each connection
	}{
		{"read", &p.Read, base.MaxConns, timeouts.Connection, map[string]time.Duration{"statement_timeout": timeouts.Read}},
		{"write", &p.Write, base.MaxConns, timeouts.Connection, trying},
		{"long", &p.Snapshots, min(base.MaxConns, maxSnapshots), 0, nil},
		{"house", &p.Background, 1, timeouts.Connection, writing},
	} {
		own := base.Copy()
		own.MaxConns = pool.most
		own.MinConns = min(own.MinConns, pool.most)
		for name, bound := range pool.settings {
			if _, given := own.ConnConfig.RuntimeParams[name]; !given { // the URL takes precedence
				own.ConnConfig.RuntimeParams[name] = milliseconds(bound)
			}
		}
		own.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
			identity, err := known.read(ctx, conn)
			if err == nil {
				config.Identified(identity)
			}
			return err
		}
		opened, err := pgxpool.NewWithConfig(ctx, own)
		if err != nil {
			return Pools{}, errors.Join(err, all.Close())
		}
		connector := stdlib.GetPoolConnector(opened)
		if pool.wait > 0 {
			connector = timeoutConnector{connector, pool.wait}
		}
		*pool.db = sql.OpenDB(connector)
		(*pool.db).SetMaxIdleConns(0) // pgxpool keeps idle connections
		all = append(all, *pool.db, closerFunc(opened.Close))
		p.Stats = append(p.Stats, pgxPoolStats(pool.name, opened))
		resets = append(resets, opened.Reset)
	}
	if err := p.Read.PingContext(ctx); err != nil {
		return Pools{}, errors.Join(fmt.Errorf("connect to PostgreSQL at %s: %w", base.ConnConfig.Host, err), all.Close())
	}
	p.Maintenance, p.Closer, p.Identity, p.MaxWrites = p.Snapshots, all, known.expression, int(base.MaxConns)
	p.Listen = func(ctx context.Context) (Listener, error) { return listenPostgres(ctx, base.ConnConfig.Copy()) }
	p.Reset = func() {
		for _, reset := range resets {
			reset()
		}
	}
	return p, nil
}

// postgresIdentity tells a database from another of the same name: by the server's
// system identifier, the database's oid and the oid of a table, which changes when
// the table is dropped and created again.
type postgresIdentity struct {
	noSystemID atomic.Bool // the system identifier cannot be read: by the role, or in a PostgreSQL-compatible database
}

const (
	databaseIdentity = `COALESCE(CAST((SELECT oid FROM pg_database WHERE datname = current_database()) AS TEXT), '') || ' ' ||
		COALESCE(CAST(CAST(to_regclass('change') AS OID) AS TEXT), 'no table')`
	systemIdentity = `(SELECT CAST(system_identifier AS TEXT) FROM pg_control_system()) || ' ' || `
)

// expression is a SQL expression for the identity.
func (i *postgresIdentity) expression() string {
	if i.noSystemID.Load() {
		return databaseIdentity
	}
	return systemIdentity + databaseIdentity
}

// read reads the identity. It does so without the system identifier from the first time that this cannot be read. Any other
// error, such as a timeout, changes nothing: with another expression the identity would be that of another database.
func (i *postgresIdentity) read(ctx context.Context, conn *pgx.Conn) (identity string, err error) {
	used := i.expression()
	err = conn.QueryRow(ctx, `SELECT `+used).Scan(&identity)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && isUnreadable(refused.Code) && used != databaseIdentity {
		i.noSystemID.Store(true)
		err = conn.QueryRow(ctx, `SELECT `+databaseIdentity).Scan(&identity)
	}
	return identity, err
}

// isUnreadable reports whether an error code means that a query fails for good: the role may not run it, a function or relation
// does not exist (class 42), or the database does not support it (class 0A).
func isUnreadable(code string) bool {
	return strings.HasPrefix(code, "42") || strings.HasPrefix(code, "0A")
}

// maxSnapshots is the size of the pool for snapshots: jobs, an export, and the stock
// kept in memory.
const maxSnapshots = 4

// keepAlive detects a peer that disappeared without closing the connection.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 3 * time.Second, Count: 3}

func (postgresDialect) DDL(text string) string { return text }

func (postgresDialect) Damage() string {
	return `SELECT CAST(CAST(indexrelid AS regclass) AS TEXT) FROM pg_index WHERE NOT indisvalid`
}

func (postgresDialect) Tables() string {
	return `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
		  AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = CAST('pg_class' AS regclass) AND d.objid = c.oid AND d.deptype = 'e')
		ORDER BY c.relname COLLATE "C"`
}

// Mark returns no statements: only files of SQLite are marked.
func (postgresDialect) Mark(int) string { return "" }

func (postgresDialect) Columns() string {
	return `SELECT c.table_name, c.column_name, c.data_type FROM information_schema.columns c
		JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name
		WHERE c.table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.table_name NOT LIKE 'goose%' AND c.is_generated = 'NEVER'
		ORDER BY c.table_name COLLATE "C", c.ordinal_position`
}

func (postgresDialect) Goose(log *slog.Logger) (goose.Dialect, []goose.ProviderOption, error) {
	locker, err := lock.NewPostgresTableLocker(lock.WithTableLockTimeout(migrationPollEvery, uint64(migrationWait/migrationPollEvery)), lock.WithTableLogger(log))
	if err != nil {
		return "", nil, err
	}
	return goose.DialectPostgres, []goose.ProviderOption{goose.WithLocker(loggingLocker{locker, log})}, nil
}

// How often to check whether another server has finished its migration, and for how long.
const (
	migrationPollEvery = time.Second
	migrationWait      = time.Hour
)

// loggingLocker logs a long wait and who has the lock.
type loggingLocker struct {
	lock.Locker
	log *slog.Logger
}

func (l loggingLocker) Lock(ctx context.Context, db *sql.DB) error {
	stop := logWait(l.log, func(ctx context.Context) (holder string) {
		_ = db.QueryRowContext(ctx, `
			SELECT locked_by || ', since ' || to_char(locked_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS') || ' UTC'
			FROM goose_lock WHERE locked AND lease_expires_at >= now() AND lock_id = $1`, lock.DefaultLockID).Scan(&holder)
		return holder
	})
	defer stop()
	return l.Locker.Lock(ctx, db)
}

// LockMigrations does nothing: goose's table locker locks.
func (postgresDialect) LockMigrations(context.Context, string, *slog.Logger) (func(), error) {
	return func() {}, nil
}

// noSoundConnection is in the error of pgxpool if each connection that it takes from the pool turns out to be broken, as after
// a failover. The error has no type.
const noSoundConnection = "too many failed attempts acquiring connection"

func (postgresDialect) Classify(err error) ErrorKind {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) { // whatever the server's reason
		return Unavailable
	}
	var failure *pgconn.PgError
	if !errors.As(err, &failure) {
		var network net.Error
		if errors.Is(err, errConnectTimeout) || errors.Is(err, pgx.ErrTxClosed) || errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
			errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) ||
			errors.As(err, &network) || pgconn.SafeToRetry(err) || pgconn.Timeout(err) || err != nil && strings.Contains(err.Error(), noSoundConnection) {
			return Unavailable
		}
		return Other
	}
	switch failure.Code {
	case "23505":
		return Duplicate
	case "40001", "40P01": // 40001 also on a standby that cancels a query because of replay
		return Retry
	case "25P03", "25P04":
		return TxEnded
	case "55P03":
		return LockTimeout
	case "42P01", "42703":
		return Missing
	case "57014":
		return Timeout
	case "25006":
		return ReadOnly
	case "53100":
		return DiskFull
	case "57P01", "57P02", "57P03", "57P04", "57P05", "53000", "53200", "53300", "53400", "58000", "58030":
		return Unavailable
	}
	if strings.HasPrefix(failure.Code, "08") { // connection exceptions
		return Unavailable
	}
	return Other
}

func (postgresDialect) Unreachable(err error) bool {
	var connect *pgconn.ConnectError
	return errors.Is(err, errConnectTimeout) || errors.As(err, &connect)
}

func (postgresDialect) SingleWriter() bool { return false }
func (postgresDialect) Snapshot() *sql.TxOptions {
	return &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true}
}
func (postgresDialect) Analyze(table string) string   { return "ANALYZE " + table }
func (postgresDialect) ForUpdate(table string) string { return " FOR UPDATE OF " + table }
func (postgresDialect) ForShare(table string) string  { return " FOR SHARE OF " + table }
func (postgresDialect) SkipLocked(table string) string {
	return " FOR UPDATE OF " + table + " SKIP LOCKED"
}

// Bulk disables sequential scans: a plan made while a table was small would be reused
// when it is large.
func (postgresDialect) Bulk() string { return "SET LOCAL enable_seqscan = off" }

// Batch has larger batches than SQLite: other writes wait only for the rows they
// share, and each batch costs eight round trips. By time alone, batches on a busy
// server shrank to 16 rows.
func (postgresDialect) Batch() BatchBounds {
	return BatchBounds{Target: 25 * time.Millisecond, Statement: 25 * time.Millisecond, MinRows: 256}
}

func (postgresDialect) LockTimeout(d time.Duration) string {
	return "SET LOCAL lock_timeout = " + milliseconds(d)
}

// milliseconds formats a timeout for PostgreSQL.
func milliseconds(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func (postgresDialect) OldestTransaction() string {
	return `
		SELECT 'of process ' || pid || COALESCE(' at ' || host(client_addr), '') || COALESCE(' (' || NULLIF(application_name, '') || ')', '')
		       || COALESCE(', ' || state || ' for ' || ROUND(EXTRACT(EPOCH FROM clock_timestamp() - state_change)) || ' s', '')
		FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
		ORDER BY xact_start LIMIT 1`
}

func (postgresDialect) Explain(query string) string { return "EXPLAIN " + query }
func (postgresDialect) Clock() string {
	return "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)"
}
func (postgresDialect) Least() string    { return "LEAST" }
func (postgresDialect) Greatest() string { return "GREATEST" }
func (postgresDialect) PrimaryKeys() string {
	return `SELECT table_name FROM information_schema.table_constraints
		WHERE constraint_type = 'PRIMARY KEY' AND table_schema = current_schema() ORDER BY table_name`
}
func (postgresDialect) ReadOnly() string {
	return `SELECT CASE WHEN current_setting('transaction_read_only') = 'on' THEN 1 ELSE 0 END`
}
func (postgresDialect) Check(context.Context, Config) error { return nil }
func (postgresDialect) Backup(context.Context, Config, string) error {
	return store.Unprocessablef(nil, "PostgreSQL has its own backup tools; use pg_dump --format=custom and pg_restore")
}

func (postgresDialect) Describe(databaseURL string) string {
	if parsed, err := pgx.ParseConfig(databaseURL); err == nil {
		return "PostgreSQL " + parsed.Host + "/" + parsed.Database
	}
	return "PostgreSQL"
}
