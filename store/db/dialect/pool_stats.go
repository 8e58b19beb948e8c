package dialect

import (
	"database/sql"

	"github.com/jackc/pgx/v5/pgxpool"
)

// PoolStats is the load of a connection pool.
type PoolStats struct {
	Pool             string // read, write, long (Pools.Snapshots), house (Pools.Background) or standby; SQLite has the first three
	InUse, Idle, Max int    // connections
	Waits            int64  // how often a caller waited for a connection
	WaitSeconds      float64
}

func sqlPoolStats(name string, pool *sql.DB) func() PoolStats {
	return func() PoolStats {
		is := pool.Stats()
		return PoolStats{name, is.InUse, is.Idle, is.MaxOpenConnections, is.WaitCount, is.WaitDuration.Seconds()}
	}
}

func pgxPoolStats(name string, pool *pgxpool.Pool) func() PoolStats {
	return func() PoolStats {
		is := pool.Stat()
		return PoolStats{name, int(is.AcquiredConns()), int(is.IdleConns()), int(is.MaxConns()), is.EmptyAcquireCount(), is.EmptyAcquireWaitTime().Seconds()}
	}
}
