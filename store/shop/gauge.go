package shop

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/catalog"
	"portico/store/db"
	"portico/store/job"
)

// Gauges is what is measured of the database when somebody looks.
type Gauges struct {
	Jobs     []JobGauge     // that have not ended, by kind and state
	Catalogs []CatalogGauge // that are served, by id
	Sweeps   []job.SweepGauge
}

// JobGauge is how many jobs of a kind have a state, and for how long the oldest has waited or run.
type JobGauge struct {
	Kind, State string
	Count       int
	Oldest      time.Duration // since it was asked for
}

// CatalogGauge is how old what is served of a catalog is.
type CatalogGauge struct {
	ID   string
	Age  time.Duration // since it was published
	Held bool          // by a roll-back
}

// Gauges measures, by short queries.
func (s *Store) Gauges(ctx context.Context) (*Gauges, error) {
	since := func(us int64) time.Duration { return max(0, s.db.Now().Sub(store.FromMicros(us))) }
	jobs, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (g JobGauge, err error) {
		var oldest int64
		err = rows.Scan(&g.Kind, &g.State, &g.Count, &oldest)
		g.Oldest = since(oldest)
		return g, err
	}, `SELECT kind, state, count(*), min(created_at) FROM job WHERE finished_at = 0 GROUP BY kind, state ORDER BY kind, state`)
	if err != nil {
		return nil, err
	}
	catalogs, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (g CatalogGauge, err error) {
		var published int64
		err = rows.Scan(&g.ID, &published, &g.Held)
		g.Age = since(published)
		return g, err
	}, `SELECT catalog.id, release.published_at, `+catalog.HeldSQL+` FROM catalog JOIN release ON release.id = catalog.release_id ORDER BY catalog.id`)
	if err != nil {
		return nil, err
	}
	sweeps, err := s.house.Gauges(ctx)
	if err != nil {
		return nil, err
	}
	return &Gauges{jobs, catalogs, sweeps}, nil
}

// PoolStats tells how busy the pools of connections are.
func (s *Store) PoolStats() []db.PoolStats { return s.db.PoolStats() }
