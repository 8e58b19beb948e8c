package app

import (
	"context"
	"log/slog"

	"portico/internal/web/metrics"
	"portico/store/shop"
)

// registerStore adds the metrics of a store: its database and pools, and its caches.
func registerStore(m *metrics.Metrics, log *slog.Logger, s *shop.Store) {
	m.RegisterDatabase(log, func(ctx context.Context) (metrics.DatabaseStats, error) { return databaseStats(ctx, s) })
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
func databaseStats(ctx context.Context, s *shop.Store) (stats metrics.DatabaseStats, err error) {
	for _, p := range s.PoolStats() {
		stats.Pools = append(stats.Pools, metrics.PoolStats{Name: p.Pool, InUse: p.InUse, Idle: p.Idle, Max: p.Max, Waits: p.Waits, WaitSeconds: p.WaitSeconds})
	}
	stats.FailedWrites, stats.SlowStatements = s.FailedWrites(), s.SlowStatements()
	found, err := s.Gauges(ctx)
	if err != nil {
		return stats, err
	}
	for _, j := range found.Jobs {
		stats.Jobs = append(stats.Jobs, metrics.JobStats{Kind: j.Kind, State: j.State, Count: j.Count, Oldest: j.Oldest})
	}
	for _, w := range found.Sweeps {
		stats.Sweeps = append(stats.Sweeps, metrics.SweepStats{Kind: w.Name, Rows: w.Swept, Ended: w.Ended, Idle: w.Idle, Due: w.Due})
	}
	for _, c := range found.Catalogs {
		stats.Catalogs = append(stats.Catalogs, metrics.CatalogStats{Catalog: c.ID, Age: c.Age, Held: c.Held})
	}
	return stats, nil
}
