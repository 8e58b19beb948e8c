package dialect

// PoolStats is the load of a connection pool.
type PoolStats struct {
	Pool             string // read, write, long (Pools.Snapshots), house (Pools.Background) or standby; SQLite has the first three
	InUse, Idle, Max int    // connections
	Waits            int64  // how often a caller waited for a connection
	WaitSeconds      float64
}
