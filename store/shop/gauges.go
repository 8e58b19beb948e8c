package shop

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/db/dialect"
	"portico/store/job"
)

// Gauges are metrics that are read from the database on request.
type Gauges struct {
	Jobs     []JobGauge     // unfinished jobs, by kind and state
	Catalogs []CatalogGauge // served catalogs, by id
	Sweeps   []job.SweepGauge
}

// JobGauge counts the unfinished jobs of a kind and state.
type JobGauge struct {
	Kind, State string
	Count       int
	Oldest      time.Duration // age of the oldest
}

// CatalogGauge is the age of a catalog's served release.
type CatalogGauge struct {
	ID   string
	Age  time.Duration // since its publication
	Held bool          // held by a rollback
}

// Gauges reads all gauges with short queries.
func (s *Store) Gauges(ctx context.Context) (*Gauges, error) {
	since := func(us int64) time.Duration { return max(0, s.db.Now().Sub(store.FromMicros(us))) }
	jobs, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (g JobGauge, err error) {
		var oldest int64
		err = rows.Scan(&g.Kind, &g.State, &g.Count, &oldest)
		g.Oldest = since(oldest)
		return g, err
	}, `
		SELECT kind, state, count(*), min(CASE WHEN run_at > created_at THEN run_at ELSE created_at END) FROM job
		WHERE finished_at = 0 AND run_at <= $1 GROUP BY kind, state ORDER BY kind, state`, store.Micros(s.db.Now()))
	if err != nil {
		return nil, err
	}
	catalogs, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (g CatalogGauge, err error) {
		var published int64
		err = rows.Scan(&g.ID, &published, &g.Held)
		g.Age = since(published)
		return g, err
	}, `SELECT catalog.id, release.published_at, `+catalog.RolledBackSQL+` FROM catalog JOIN release ON release.id = catalog.release_id ORDER BY catalog.id`)
	if err != nil {
		return nil, err
	}
	sweeps, err := s.janitor.Gauges(ctx)
	if err != nil {
		return nil, err
	}
	return &Gauges{jobs, catalogs, sweeps}, nil
}

// PoolStats returns the load of the connection pools.
func (s *Store) PoolStats() []dialect.PoolStats { return s.db.PoolStats() }

// StandbyStats says how releases are read from the standby.
func (s *Store) StandbyStats() db.StandbyStats { return s.db.StandbyStats() }
