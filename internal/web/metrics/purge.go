package metrics

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The metrics of purgeCollector.
var (
	purgesPending = newDesc("portico_purge_pending", "Calls of the purge hook that are to be made, by all servers of the database.")
	purgesOldest  = newDesc("portico_purge_oldest_seconds", "Age of the oldest change that the purge hook has not been called for with success; 0 for none.")
)

// RegisterPurges adds the metrics of the purge hook: calls by outcome, and what read returns at each scrape. The hook counts a
// call with the function count. read is nil without a hook: then the metrics are 0.
func (m *Metrics) RegisterPurges(log *slog.Logger, read func(context.Context) (calls int, oldest time.Duration, err error), outcomes ...string) (count func(outcome string)) {
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "portico_purge_calls_total", Help: "Calls of the purge hook by this server, by outcome: ok or error.",
	}, []string{"outcome"})
	for _, outcome := range outcomes {
		calls.WithLabelValues(outcome)
	}
	m.registry.MustRegister(calls, &purgeCollector{log, read})
	return func(outcome string) { calls.WithLabelValues(outcome).Inc() }
}

// purgeCollector reads the metrics of the database at each scrape.
type purgeCollector struct {
	log  *slog.Logger
	read func(context.Context) (calls int, oldest time.Duration, err error)
}

// Describe implements prometheus.Collector.
func (p *purgeCollector) Describe(to chan<- *prometheus.Desc) {
	to <- purgesPending
	to <- purgesOldest
}

// Collect implements prometheus.Collector. It leaves out the metrics if the database fails.
func (p *purgeCollector) Collect(to chan<- prometheus.Metric) {
	var calls int
	var oldest time.Duration
	if p.read != nil {
		ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
		defer cancel()
		var err error
		if calls, oldest, err = p.read(ctx); err != nil {
			p.log.Warn("cannot read the purge calls from the database", "error", err)
			return
		}
	}
	to <- prometheus.MustNewConstMetric(purgesPending, prometheus.GaugeValue, float64(calls))
	to <- prometheus.MustNewConstMetric(purgesOldest, prometheus.GaugeValue, oldest.Seconds())
}
