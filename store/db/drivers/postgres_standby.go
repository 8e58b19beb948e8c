package drivers

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"portico/store"
	"portico/store/db/dialect"
)

// OpenStandby creates the pool of Config.ReadURL, with the size of the pool for reads. identityExpression returns the SQL of the
// database's identity, which is known once the primary is open.
func (postgresDialect) OpenStandby(ctx context.Context, config dialect.Config, identityExpression func() string) (dialect.StandbyPool, error) {
	own, err := pgxpool.ParseConfig(config.ReadURL)
	if err != nil || store.CheckURL(config.ReadURL) != nil {
		return dialect.StandbyPool{}, errors.New("the URL of the standby is not a PostgreSQL address; it looks like postgres://user@host:5432/database")
	}
	if config.Readers > 0 {
		own.MaxConns = int32(config.Readers)
	}
	own.ConnConfig.ConnectTimeout, own.PingTimeout, own.ShouldPing = standbyConnectTime, standbyConnectTime, shouldPing
	own.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	if _, given := own.ConnConfig.RuntimeParams["statement_timeout"]; !given {
		own.ConnConfig.RuntimeParams["statement_timeout"] = milliseconds(dialect.StandbyTimeout)
	}
	own.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (keep bool, err error) {
		wanted, ok := dialect.ReleaseOf(ctx)
		if !ok {
			return true, nil
		}
		return checkReplayed(ctx, conn, identityExpression(), wanted)
	}
	opened, err := pgxpool.NewWithConfig(ctx, own)
	if err != nil {
		return dialect.StandbyPool{}, err
	}
	pool := sql.OpenDB(stdlib.GetPoolConnector(opened))
	pool.SetMaxIdleConns(0) // pgxpool keeps idle connections
	return dialect.StandbyPool{DB: pool, Closer: closers{pool, closerFunc(opened.Close)}, Reset: opened.Reset, Stats: pgxPoolStats("standby", opened)}, nil
}

const (
	standbyConnectTime = time.Second            // limit for a new connection
	standbyRecheck     = 250 * time.Millisecond // between two looks for a release on a connection
)

// seenReleases are the releases that were looked for on a connection: when, or the zero time
// once its server has replayed them.
type seenReleases map[dialect.WantedRelease]time.Time

const (
	maxSeenReleases = 64         // number of releases to remember for a connection
	seenReleasesKey = "releases" // of the data of a connection
)

// checkReplayed returns ErrNotReplayed unless the server of a connection has replayed a
// release. It looks once, then not for standbyRecheck, and never again once the release is
// there. keep is false if the connection must not be used again.
func checkReplayed(ctx context.Context, conn *pgx.Conn, identityExpression string, wanted dialect.WantedRelease) (keep bool, err error) {
	data := conn.PgConn().CustomData()
	seen, _ := data[seenReleasesKey].(seenReleases)
	if seen == nil || len(seen) >= maxSeenReleases {
		seen = seenReleases{}
		data[seenReleasesKey] = seen
	}
	at, looked := seen[wanted]
	if looked && at.IsZero() {
		return true, nil
	}
	if looked && time.Since(at) < standbyRecheck {
		return true, dialect.ErrNotReplayed
	}
	var identity string
	var there bool
	if err := conn.QueryRow(ctx, `SELECT `+identityExpression+`, EXISTS (SELECT 1 FROM release WHERE id = $1 AND published_at = $2 AND state = 'published')`,
		wanted.Number, wanted.Published).Scan(&identity, &there); err != nil {
		return false, err
	}
	switch {
	case identity != wanted.Identity:
		return false, dialect.ErrNotStandby
	case !there:
		seen[wanted] = time.Now()
		return true, dialect.ErrNotReplayed
	}
	seen[wanted] = time.Time{}
	return true, nil
}
