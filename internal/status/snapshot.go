// Package status sums up the metrics of one server for people: a Snapshot is what the server exposes at a time, a Report
// what two of them say, as text or a page. It knows metrics by their names alone, and must not import the store.
package status

import (
	"math"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
)

// A Snapshot is the metrics of a server at a time. A nil one stands for the start of the server: total, sums and histograms accept
// it, max does not.
type Snapshot struct {
	At       time.Time
	families map[string]*dto.MetricFamily
}

// NewSnapshot returns the snapshot of gathered metrics.
func NewSnapshot(at time.Time, families []*dto.MetricFamily) *Snapshot {
	s := &Snapshot{at, make(map[string]*dto.MetricFamily, len(families))}
	for _, f := range families {
		s.families[f.GetName()] = f
	}
	return s
}

// label returns the value of a metric's label.
func label(m *dto.Metric, name string) string {
	for _, pair := range m.GetLabel() {
		if pair.GetName() == name {
			return pair.GetValue()
		}
	}
	return ""
}

// value returns the value of a counter or a gauge.
func value(m *dto.Metric) float64 {
	switch {
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	}
	return m.GetUntyped().GetValue()
}

// sums adds up a metric by the values of a label. No metric has the label "", so that by it there is one sum, of all.
func (s *Snapshot) sums(name, by string) map[string]float64 {
	sums := map[string]float64{}
	if s != nil {
		for _, m := range s.families[name].GetMetric() {
			sums[label(m, by)] += value(m)
		}
	}
	return sums
}

// total is the sum of a metric.
func (s *Snapshot) total(name string) (sum float64) {
	for _, v := range s.sums(name, "") {
		sum += v
	}
	return sum
}

// max returns the largest value of a metric by a label.
func (s *Snapshot) max(name, by string) map[string]float64 {
	largest := map[string]float64{}
	for _, m := range s.families[name].GetMetric() {
		largest[label(m, by)] = max(largest[label(m, by)], value(m))
	}
	return largest
}

// histogram is how many observations were at most as large as each bound. The last bound is infinite.
type histogram struct {
	bounds []float64 // seconds
	counts []float64 // of all observations up to the bound
	sum    float64   // of all observations, in seconds
}

// count is the number of all observations; 0 for nil.
func (h *histogram) count() float64 {
	if h == nil || len(h.counts) == 0 {
		return 0
	}
	return h.counts[len(h.counts)-1]
}

// histograms adds up a histogram by what of returns for a series; "" leaves it out.
func (s *Snapshot) histograms(name string, of func(*dto.Metric) string) map[string]*histogram {
	sums := map[string]*histogram{}
	if s == nil {
		return sums
	}
	for _, m := range s.families[name].GetMetric() {
		key, from := of(m), m.GetHistogram()
		if key == "" || from == nil {
			continue
		}
		to := sums[key]
		if to == nil {
			to = &histogram{}
			for _, bucket := range from.GetBucket() {
				if !math.IsInf(bucket.GetUpperBound(), 1) {
					to.bounds = append(to.bounds, bucket.GetUpperBound())
				}
			}
			to.bounds = append(to.bounds, math.Inf(1))
			to.counts = make([]float64, len(to.bounds))
			sums[key] = to
		}
		for i, bucket := range from.GetBucket() {
			if i < len(to.counts)-1 {
				to.counts[i] += float64(bucket.GetCumulativeCount())
			}
		}
		to.counts[len(to.counts)-1] += float64(from.GetSampleCount())
		to.sum += from.GetSampleSum()
	}
	return sums
}

// since returns what was observed after an earlier histogram. It returns all if that is nil, or not of the same process or bounds.
func (h *histogram) since(before *histogram) *histogram {
	if before == nil || before.count() > h.count() || len(before.counts) != len(h.counts) {
		return h
	}
	d := &histogram{h.bounds, slices.Clone(h.counts), h.sum - before.sum}
	for i := range d.counts {
		d.counts[i] -= before.counts[i]
	}
	return d
}

// quantile estimates a quantile in milliseconds, evenly within a bucket, as histogram_quantile of Prometheus does. It
// is nil without observations. Above the largest bound it is that bound.
func (h *histogram) quantile(q float64) *float64 {
	rank := q * h.count()
	if h.count() == 0 {
		return nil
	}
	i := slices.IndexFunc(h.counts, func(n float64) bool { return n >= rank })
	low, below := 0.0, 0.0
	if i > 0 {
		low, below = h.bounds[i-1], h.counts[i-1]
	}
	ms := low
	if !math.IsInf(h.bounds[i], 1) && h.counts[i] > below {
		ms += (h.bounds[i] - low) * (rank - below) / (h.counts[i] - below)
	}
	ms *= 1000
	return &ms
}

// surfaceKind is the kind of a series of HTTP requests; "" for GraphQL, whose operations are counted apart.
func surfaceKind(m *dto.Metric) string {
	switch method := label(m, "method"); {
	case label(m, "surface") == "graphql":
		return ""
	case label(m, "surface") != "rest":
		return "other HTTP"
	case method == "GET" || method == "HEAD" || method == "OPTIONS":
		return "REST read"
	}
	return "REST write"
}

// operationKind is the kind of a series of GraphQL operations.
func operationKind(m *dto.Metric) string { return "GraphQL " + label(m, "kind") }

// routeName is the method and route of a series of HTTP requests; "" for GraphQL and pages.
func routeName(m *dto.Metric) string {
	if label(m, "surface") != "rest" {
		return ""
	}
	return label(m, "method") + " " + label(m, "route")
}

// operationName is the kind and name of a series of GraphQL operations.
func operationName(m *dto.Metric) string {
	return strings.TrimSpace(label(m, "kind") + " " + label(m, "operation"))
}
