package db

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
)

// openStandby creates the pool of Config.ReadURL, with the size of the pool for reads.
func (postgresDialect) openStandby(ctx context.Context, config Config, identity func() string) (standbyPool, error) {
	own, err := pgxpool.ParseConfig(config.ReadURL)
	if err != nil {
		return standbyPool{}, errors.New("the URL of the standby is not a PostgreSQL address; it looks like postgres://user@host:5432/database")
	}
	if config.Readers > 0 {
		own.MaxConns = int32(config.Readers)
	}
	own.ConnConfig.ConnectTimeout, own.PingTimeout, own.ShouldPing = standbyConnectTime, standbyConnectTime, shouldPing
	own.ConnConfig.DialFunc = (&net.Dialer{KeepAliveConfig: keepAlive}).DialContext
	if _, given := own.ConnConfig.RuntimeParams["statement_timeout"]; !given {
		own.ConnConfig.RuntimeParams["statement_timeout"] = milliseconds(standbyTimeout)
	}
	own.PrepareConn = func(ctx context.Context, conn *pgx.Conn) (keep bool, err error) {
		wanted, ok := ctx.Value(replayedKey{}).(wantedRelease)
		if !ok {
			return true, nil
		}
		return checkReplayed(ctx, conn, identity(), wanted)
	}
	opened, err := pgxpool.NewWithConfig(ctx, own)
	if err != nil {
		return standbyPool{}, err
	}
	pool := sql.OpenDB(stdlib.GetPoolConnector(opened))
	pool.SetMaxIdleConns(0) // pgxpool keeps idle connections
	return standbyPool{db: pool, closer: closers{pool, closerFunc(opened.Close)}, reset: opened.Reset, stats: pgxPoolStats("standby", opened)}, nil
}

// seenReleases are the releases that were looked for on a connection: when, or the zero time
// once its server has replayed them.
type seenReleases map[wantedRelease]time.Time

// maxSeenReleases is the number of releases to remember for a connection.
const maxSeenReleases = 64

// checkReplayed returns errNotReplayed unless the server of a connection has replayed a
// release. It looks once, then not for standbyRecheck, and never again once the release is
// there. keep is false if the connection must not be used again.
func checkReplayed(ctx context.Context, conn *pgx.Conn, identityExpression string, wanted wantedRelease) (keep bool, err error) {
	const name = "releases"
	data := conn.PgConn().CustomData()
	seen, _ := data[name].(seenReleases)
	if seen == nil || len(seen) >= maxSeenReleases {
		seen = seenReleases{}
		data[name] = seen
	}
	at, looked := seen[wanted]
	if looked && at.IsZero() {
		return true, nil
	}
	if looked && time.Since(at) < standbyRecheck {
		return true, errNotReplayed
	}
	var identity string
	var there bool
	if err := conn.QueryRow(ctx, `SELECT `+identityExpression+`, EXISTS (SELECT 1 FROM release WHERE id = $1 AND published_at = $2 AND state = 'published')`,
		wanted.release.Number, wanted.release.Published).Scan(&identity, &there); err != nil {
		return false, err
	}
	switch {
	case identity != wanted.identity:
		return false, errNotStandby
	case !there:
		seen[wanted] = time.Now()
		return true, errNotReplayed
	}
	seen[wanted] = time.Time{}
	return true, nil
}
