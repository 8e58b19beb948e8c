package metrics

import "github.com/prometheus/client_golang/prometheus"

// RegisterStandby adds the metrics of reads from a standby. read must not query the database.
func (m *Metrics) RegisterStandby(read func() (lost bool, reads map[string]int64)) {
	m.registry.MustRegister(standbyCollector(read))
}

type standbyCollector func() (lost bool, reads map[string]int64)

// The metrics of standbyCollector.
var (
	standbyLost  = newDesc("portico_standby_lost", "1 while --read-database-url is set and cannot be read, so that everything is read from the primary, else 0.")
	standbyReads = newDesc("portico_standby_reads_total", "Queries of releases with --read-database-url, by result: read (from the standby), or read from the primary because the standby was behind, failed, or was lost.", "result")
)

// Describe implements prometheus.Collector.
func (c standbyCollector) Describe(to chan<- *prometheus.Desc) {
	to <- standbyLost
	to <- standbyReads
}

// Collect implements prometheus.Collector.
func (c standbyCollector) Collect(to chan<- prometheus.Metric) {
	lost, reads := c()
	value := 0.0
	if lost {
		value = 1
	}
	to <- prometheus.MustNewConstMetric(standbyLost, prometheus.GaugeValue, value)
	for result, count := range reads {
		to <- prometheus.MustNewConstMetric(standbyReads, prometheus.CounterValue, float64(count), result)
	}
}
