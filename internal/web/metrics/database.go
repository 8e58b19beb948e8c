package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// collectTimeout bounds how long the database is asked for gauges.
const collectTimeout = 2 * time.Second

// maxCatalogs is how many catalogs are told apart in metrics.
const maxCatalogs = 200

// DatabaseStats is what metrics tell of the database and its pools.
type DatabaseStats struct {
	Pools    []PoolStats
	Jobs     []JobStats
	Catalogs []CatalogStats
	Sweeps   []SweepStats
}

// PoolStats is how busy a pool of connections is.
type PoolStats struct {
	Name             string
	InUse, Idle, Max int
	Waits            int64
	WaitSeconds      float64
}

// JobStats is the jobs of one kind and state that have not ended.
type JobStats struct {
	Kind, State string
	Count       int
	Oldest      time.Duration
}

// CatalogStats is how old what is served of a catalog is.
type CatalogStats struct {
	Catalog string
	Age     time.Duration
	Held    bool // by a roll-back
}

// SweepStats is how far housekeeping is with one kind of what is no longer needed.
type SweepStats struct {
	Kind  string
	Rows  int64         // that this server did away with
	Ended bool          // it was done to the end
	Idle  time.Duration // since then
	Due   int           // what waits
}

// RegisterDatabase has the metrics tell of the database each time they are asked for.
// What cannot be read is left out, and logged: portico_database_up is 0 then,
// and the pools are told all the same.
func (m *Metrics) RegisterDatabase(log *slog.Logger, read func(context.Context) (DatabaseStats, error)) {
	m.registry.MustRegister(&databaseCollector{log: log, read: read})
}

// RegisterBuild has the metrics name the version.
func (m *Metrics) RegisterBuild(version, engine string) {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "portico_build_info", Help: "1, with the version and the engine of the database.",
		ConstLabels: prometheus.Labels{"version": version, "engine": engine},
	})
	info.Set(1)
	m.registry.MustRegister(info)
}

type databaseCollector struct {
	log  *slog.Logger
	read func(context.Context) (DatabaseStats, error)
}

// What gauges tells.
var (
	poolInUse       = newDesc("portico_database_connections_in_use", "Connections to the database at work, by pool: read, write, long, which is publications and exports, or house, which is housekeeping.", "pool")
	poolIdle        = newDesc("portico_database_connections_idle", "Connections to the database that wait for work, by pool.", "pool")
	poolMax         = newDesc("portico_database_connections_max", "How many connections a pool can have.", "pool")
	poolWaits       = newDesc("portico_database_connection_waits_total", "How often somebody had to wait for a connection, by pool.", "pool")
	poolWaitSeconds = newDesc("portico_database_connection_wait_seconds_total", "How long they waited, by pool.", "pool")
	jobsOpen        = newDesc("portico_jobs", "Jobs that have not ended, of all servers of the database, by kind and state.", "kind", "state")
	jobsOldest      = newDesc("portico_job_oldest_seconds", "Time since the oldest of them was asked for, by kind and state.", "kind", "state")
	servedAge       = newDesc("portico_catalog_served_age_seconds", "Time since what is served of a catalog was published, by catalog; the first 200.", "catalog")
	catalogHeld     = newDesc("portico_catalog_held", "1 if a roll-back holds the catalog at its release, so that imports do not publish it, else 0, by catalog. The first 200 catalogs.", "catalog")
	sweptRows       = newDesc("portico_swept_rows_total", "Rows of what is no longer needed that this server did away with, by kind.", "kind")
	sweptAge        = newDesc("portico_sweep_age_seconds", "Time since a server last did away with all there was of it, by kind; what never was so is left out.", "kind")
	sweptDue        = newDesc("portico_sweep_due", "What waits to be done away with, counted up to 1000, by kind: rows, or of releases whole ones.", "kind")
	databaseUp      = newDesc("portico_database_up", "1 where the database answered when metrics were asked for, else 0.")
)

func newDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// Describe implements prometheus.Collector.
func (g *databaseCollector) Describe(to chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{poolInUse, poolIdle, poolMax, poolWaits, poolWaitSeconds, jobsOpen, jobsOldest, servedAge, catalogHeld, sweptRows, sweptAge, sweptDue, databaseUp} {
		to <- desc
	}
}

// Collect implements prometheus.Collector.
func (g *databaseCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	is, err := g.read(ctx)
	up := 1.0
	if err != nil {
		up = 0
		g.log.Warn("the database did not answer what metrics ask", "error", err)
	}
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge(databaseUp, up)
	for _, p := range is.Pools {
		gauge(poolInUse, float64(p.InUse), p.Name)
		gauge(poolIdle, float64(p.Idle), p.Name)
		gauge(poolMax, float64(p.Max), p.Name)
		to <- prometheus.MustNewConstMetric(poolWaits, prometheus.CounterValue, float64(p.Waits), p.Name)
		to <- prometheus.MustNewConstMetric(poolWaitSeconds, prometheus.CounterValue, p.WaitSeconds, p.Name)
	}
	for _, j := range is.Jobs {
		gauge(jobsOpen, float64(j.Count), j.Kind, j.State)
		gauge(jobsOldest, j.Oldest.Seconds(), j.Kind, j.State)
	}
	for _, w := range is.Sweeps {
		to <- prometheus.MustNewConstMetric(sweptRows, prometheus.CounterValue, float64(w.Rows), w.Kind)
		gauge(sweptDue, float64(w.Due), w.Kind)
		if w.Ended {
			gauge(sweptAge, w.Idle.Seconds(), w.Kind)
		}
	}
	for _, c := range is.Catalogs[:min(len(is.Catalogs), maxCatalogs)] {
		gauge(servedAge, c.Age.Seconds(), c.Catalog)
		held := 0.0
		if c.Held {
			held = 1
		}
		gauge(catalogHeld, held, c.Catalog)
	}
}
