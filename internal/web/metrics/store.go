package metrics

import (
	"context"
	"log/slog"

	"portico/store/shop"
)

// RegisterStore has the metrics tell of a store: its database and pools, what it keeps
// of releases, and the stock in memory.
func (m *Metrics) RegisterStore(log *slog.Logger, s *shop.Store) {
	m.RegisterDatabase(log, func(ctx context.Context) (DatabaseStats, error) { return databaseStats(ctx, s) })
	m.RegisterReleaseCache(s.CacheStats)
	m.RegisterStockCache(func() (held, bytes, age, loads, full float64) {
		stats := s.StockCacheStats()
		if stats.OverBudget {
			full = 1
		}
		return float64(stats.Records), float64(stats.Bytes), stats.Age.Seconds(), float64(stats.Loads), full
	})
}

// databaseStats is what metrics tell of the database. The pools are told whether or
// not it answers.
func databaseStats(ctx context.Context, s *shop.Store) (is DatabaseStats, err error) {
	for _, p := range s.PoolStats() {
		is.Pools = append(is.Pools, PoolStats{Name: p.Pool, InUse: p.InUse, Idle: p.Idle, Max: p.Max, Waits: p.Waits, WaitSeconds: p.WaitSeconds})
	}
	found, err := s.Gauges(ctx)
	if err != nil {
		return is, err
	}
	for _, j := range found.Jobs {
		is.Jobs = append(is.Jobs, JobStats{Kind: j.Kind, State: j.State, Count: j.Count, Oldest: j.Oldest})
	}
	for _, w := range found.Sweeps {
		is.Sweeps = append(is.Sweeps, SweepStats{Kind: w.Name, Rows: w.Swept, Ended: w.Ended, Idle: w.Idle, Due: w.Due})
	}
	for _, c := range found.Catalogs {
		is.Catalogs = append(is.Catalogs, CatalogStats{Catalog: c.ID, Age: c.Age, Held: c.Held})
	}
	return is, nil
}
