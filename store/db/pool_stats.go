package db

import (
	"database/sql"

	"github.com/jackc/pgx/v5/pgxpool"
)

// PoolStats is how busy a pool of connections is.
type PoolStats struct {
	Pool              string // read, write, long or house; SQLite has the first two
	InUse, Idle, Most int    // connections
	Waits             int64  // how often somebody had to wait for one since the start
	WaitSeconds       float64
}

// PoolStats tells of each pool. It asks no database.
func (s *DB) PoolStats() []PoolStats {
	stats := make([]PoolStats, len(s.stats))
	for i, read := range s.stats {
		stats[i] = read()
	}
	return stats
}

func statsOf(name string, pool *sql.DB) func() PoolStats {
	return func() PoolStats {
		is := pool.Stats()
		return PoolStats{name, is.InUse, is.Idle, is.MaxOpenConnections, is.WaitCount, is.WaitDuration.Seconds()}
	}
}

func statsBeneath(name string, pool *pgxpool.Pool) func() PoolStats {
	return func() PoolStats {
		is := pool.Stat()
		return PoolStats{name, int(is.AcquiredConns()), int(is.IdleConns()), int(is.MaxConns()), is.EmptyAcquireCount(), is.EmptyAcquireWaitTime().Seconds()}
	}
}
