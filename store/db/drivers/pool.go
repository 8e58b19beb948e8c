package drivers

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"portico/store/db/dialect"
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

func sqlPoolStats(name string, pool *sql.DB) func() dialect.PoolStats {
	return func() dialect.PoolStats {
		is := pool.Stats()
		return dialect.PoolStats{Pool: name, InUse: is.InUse, Idle: is.Idle, Max: is.MaxOpenConnections, Waits: is.WaitCount, WaitSeconds: is.WaitDuration.Seconds()}
	}
}

func pgxPoolStats(name string, pool *pgxpool.Pool) func() dialect.PoolStats {
	return func() dialect.PoolStats {
		is := pool.Stat()
		return dialect.PoolStats{
			Pool: name, InUse: int(is.AcquiredConns()), Idle: int(is.IdleConns()), Max: int(is.MaxConns()),
			Waits: is.EmptyAcquireCount(), WaitSeconds: is.EmptyAcquireWaitTime().Seconds(),
		}
	}
}

// pingAfterIdle is how long a connection may be idle before it is pinged.
const pingAfterIdle = time.Second

// shouldPing reports whether a connection must be pinged.
func shouldPing(ctx context.Context, params pgxpool.ShouldPingParams) bool {
	if ping, set := dialect.Ping(ctx); set {
		return ping
	}
	return params.IdleDuration > pingAfterIdle
}
