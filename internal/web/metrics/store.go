package metrics

import (
	"context"
	"log/slog"

	"portico/store/shop"
)

// RegisterStore adds the metrics of a store: its database and pools, and its caches.
func (m *Metrics) RegisterStore(log *slog.Logger, s *shop.Store) {
	m.RegisterDatabase(log, func(ctx context.Context) (DatabaseStats, error) { return databaseStats(ctx, s) })
	m.RegisterStandby(func() (lost bool, reads map[string]int64) {
		stats := s.StandbyStats()
		return stats.Lost, stats.Reads
	})
	m.RegisterReleaseCache(s.CacheStats)
	m.RegisterStockCache(func() (held, bytes, age, loads, full float64) {
		stats := s.Stock.CacheStats()
		if stats.OverBudget {
			full = 1
		}
		return float64(stats.Records), float64(stats.Bytes), stats.Age.Seconds(), float64(stats.Loads), full
	})
}

// databaseStats returns the pools, failed writes and slow statements even if the database fails.
func databaseStats(ctx context.Context, s *shop.Store) (stats DatabaseStats, err error) {
	for _, p := range s.PoolStats() {
		stats.Pools = append(stats.Pools, PoolStats{Name: p.Pool, InUse: p.InUse, Idle: p.Idle, Max: p.Max, Waits: p.Waits, WaitSeconds: p.WaitSeconds})
	}
	stats.FailedWrites, stats.SlowStatements = s.FailedWrites(), s.SlowStatements()
	found, err := s.Gauges(ctx)
	if err != nil {
		return stats, err
	}
	for _, j := range found.Jobs {
		stats.Jobs = append(stats.Jobs, JobStats{Kind: j.Kind, State: j.State, Count: j.Count, Oldest: j.Oldest})
	}
	for _, w := range found.Sweeps {
		stats.Sweeps = append(stats.Sweeps, SweepStats{Kind: w.Name, Rows: w.Swept, Ended: w.Ended, Idle: w.Idle, Due: w.Due})
	}
	for _, c := range found.Catalogs {
		stats.Catalogs = append(stats.Catalogs, CatalogStats{Catalog: c.ID, Age: c.Age, Held: c.Held})
	}
	return stats, nil
}
