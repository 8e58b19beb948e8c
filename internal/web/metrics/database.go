package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collectTimeout limits the time that the database is asked for metrics.
const collectTimeout = 2 * time.Second

// maxCatalogs is the number of catalogs with metrics.
const maxCatalogs = 200

// DatabaseStats is the state of the database and its pools.
type DatabaseStats struct {
	Pools    []PoolStats
	Jobs     []JobStats
	Catalogs []CatalogStats
	Sweeps   []SweepStats

	FailedWrites   map[string]int64 // by cause
	SlowStatements map[string]int64 // by operation and table
}

// PoolStats is the state of a connection pool.
type PoolStats struct {
	Name             string
	InUse, Idle, Max int
	Waits            int64
	WaitSeconds      float64
}

// JobStats counts the unfinished jobs of a kind and state.
type JobStats struct {
	Kind, State string
	Count       int
	Oldest      time.Duration
}

// CatalogStats says how old the served release of a catalog is.
type CatalogStats struct {
	Catalog string
	Age     time.Duration
	Held    bool // by a rollback
}

// SweepStats is the progress of deleting one kind of obsolete rows.
type SweepStats struct {
	Kind  string
	Rows  int64         // deleted by this server
	Ended bool          // a sweep has deleted all
	Idle  time.Duration // since then
	Due   int           // to delete
}

// RegisterDatabase adds the metrics that read returns, at each scrape. If read fails, portico_database_up is 0 and the
// error is logged; the pools, failed writes and slow statements are reported all the same.
func (m *Metrics) RegisterDatabase(log *slog.Logger, read func(context.Context) (DatabaseStats, error)) {
	m.registry.MustRegister(&databaseCollector{log: log, read: read})
}

// RegisterBuild adds the version.
func (m *Metrics) RegisterBuild(version, engine string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "portico_build_info", Help: "1, labeled with the version and the database engine.",
		ConstLabels: prometheus.Labels{"version": version, "engine": engine},
	})
	info.Set(1)
	m.registry.MustRegister(info)
}

type databaseCollector struct {
	log  *slog.Logger
	read func(context.Context) (DatabaseStats, error)
}

// The metrics of databaseCollector.
var (
	poolInUse       = newDesc("portico_database_connections_in_use", "Database connections in use, by pool: read, write, long (publications and exports), house (background jobs) or standby.", "pool")
	poolIdle        = newDesc("portico_database_connections_idle", "Idle database connections, by pool.", "pool")
	poolMax         = newDesc("portico_database_connections_max", "Maximum number of database connections, by pool.", "pool")
	poolWaits       = newDesc("portico_database_connection_waits_total", "Waits for a database connection, by pool.", "pool")
	poolWaitSeconds = newDesc("portico_database_connection_wait_seconds_total", "Time spent waiting for a database connection, by pool.", "pool")
	jobsOpen        = newDesc("portico_jobs", "Unfinished jobs of all servers of the database, by kind and state.", "kind", "state")
	jobsOldest      = newDesc("portico_job_oldest_seconds", "Age of the oldest unfinished job, by kind and state.", "kind", "state")
	servedAge       = newDesc("portico_catalog_served_age_seconds", "Time since the served release was published, by catalog. The first 200 catalogs.", "catalog")
	catalogHeld     = newDesc("portico_catalog_held", "1 while a rollback holds the catalog at its release, so that imports do not publish it, else 0, by catalog. The first 200 catalogs.", "catalog")
	sweptRows       = newDesc("portico_swept_rows_total", "Obsolete rows that this server deleted, by kind.", "kind")
	sweptAge        = newDesc("portico_sweep_age_seconds", "Time since a server last deleted all obsolete rows, by kind; omitted until the first time.", "kind")
	sweptDue        = newDesc("portico_sweep_due", "Obsolete rows, or whole releases, to delete, counted up to 1000, by kind.", "kind")
	failedWrites    = newDesc("portico_database_failed_writes_total", "Writes that the database did not take, by cause: full (its disk), read_only or connection.", "cause")
	// slowStatements are counted, with the threshold, in store/db/slow_statements.go.
	slowStatements = newDesc("portico_database_slow_statements_total", "SQL statements that took 100 ms or longer, by operation and table, such as SELECT product.", "statement")
	databaseUp     = newDesc("portico_database_up", "1 if the database responded at this scrape, else 0.")
)

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (c *databaseCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{poolInUse, poolIdle, poolMax, poolWaits, poolWaitSeconds, jobsOpen, jobsOldest, servedAge, catalogHeld, sweptRows, sweptAge, sweptDue, failedWrites, slowStatements, databaseUp} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (c *databaseCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	stats, err := c.read(ctx)
	up := 1.0
	if err != nil {
		up = 0
		c.log.Warn("cannot read metrics from the database", "error", err)
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(databaseUp, up)
	for cause, n := range stats.FailedWrites {
		to <- prometheus.MustNewConstMetric(failedWrites, prometheus.CounterValue, float64(n), cause)
	}
	for statement, n := range stats.SlowStatements {
		to <- prometheus.MustNewConstMetric(slowStatements, prometheus.CounterValue, float64(n), statement)
	}
	for _, p := range stats.Pools {
		gauge(poolInUse, float64(p.InUse), p.Name)
		gauge(poolIdle, float64(p.Idle), p.Name)
		gauge(poolMax, float64(p.Max), p.Name)
		to <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(p.Waits), p.Name)
		to <- prometheus.MustNewConstMetric(poolWaitSeconds, prometheus.CounterValue, p.WaitSeconds, p.Name)
	}
	for _, j := range stats.Jobs {
		gauge(jobsOpen, float64(j.Count), j.Kind, j.State)
		gauge(jobsOldest, j.Oldest.Seconds(), j.Kind, j.State)
	}
	for _, w := range stats.Sweeps {
		to <- prometheus.MustNewConstMetric(sweptRows, prometheus.CounterValue, float64(w.Rows), w.Kind)
		gauge(sweptDue, float64(w.Due), w.Kind)
		if w.Ended {
			gauge(sweptAge, w.Idle.Seconds(), w.Kind)
		}
	}
	for _, served := range stats.Catalogs[:min(len(stats.Catalogs), maxCatalogs)] {
		gauge(servedAge, served.Age.Seconds(), served.Catalog)
		held := 0.0
		if served.Held {
			held = 1
		}
		gauge(catalogHeld, held, served.Catalog)
	}
}
