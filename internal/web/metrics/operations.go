package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"portico/store"
)

// Operation is an operation of GraphQL that has ended, or was refused.
type Operation struct {
	Name    string        // empty for none
	Kind    string        // query, mutation or subscription; empty for what was not one
	Trusted bool          // of a document that those who run the server gave it
	Took    time.Duration // 0 for what has no end of its own
	Codes   []store.Code  // of its errors
}

// maxTrusted is how many operations of trusted documents are told apart.
const maxTrusted = 1000

// operationMetrics are the operations that are told apart by name. Whoever may ask
// for nothing chooses no names, and whoever may but so many.
type operationMetrics struct {
	maxNamed      int // beside the trusted ones
	total         *prometheus.CounterVec
	errors        *prometheus.CounterVec
	subscriptions *prometheus.CounterVec
	duration      *prometheus.HistogramVec

	mu             sync.RWMutex
	named, trusted map[string]struct{}
	series         map[[2]string]*operationSeries // by name and kind, as labels
}

// operationSeries is what is counted of one operation, its labels looked up
// once.
type operationSeries struct {
	succeeded, failed prometheus.Counter
	duration          prometheus.Observer
}

// SetMaxOperations has the metrics tell apart so many operations of GraphQL, beside
// those of trusted documents.
func (m *Metrics) SetMaxOperations(most int) {
	m.operations.maxNamed = most
}

func newOperationMetrics() operationMetrics {
	return operationMetrics{
		maxNamed: 100,
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_operations_total", Help: "GraphQL operations that ended or were refused, by name, kind (query, mutation, subscription, or none for what was not one) and outcome: ok, or error where the answer has any, whatever its status.",
		}, []string{"operation", "kind", "outcome"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_operation_errors_total", Help: "GraphQL operations whose answers had errors, by name, kind and extensions.code; one with several codes counts with each.",
		}, []string{"operation", "kind", "code"}),
		subscriptions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_subscriptions_begun_total", Help: "GraphQL subscriptions that began, by name; portico_graphql_operations_total counts them as they end.",
		}, []string{"operation"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portico_graphql_operation_duration_seconds", Help: "How long GraphQL queries and mutations took, by name and kind.",
			Buckets: durationBuckets,
		}, []string{"operation", "kind"}),
		named: map[string]struct{}{}, trusted: map[string]struct{}{}, series: map[[2]string]*operationSeries{},
	}
}

// CountSubscription counts a subscription that begins.
func (m *Metrics) CountSubscription(ctx context.Context, is Operation) {
	m.operations.subscriptions.WithLabelValues(m.operations.label(is, m.client(ctx))).Inc()
}

// CountOperation counts an operation that has ended, or was refused.
func (m *Metrics) CountOperation(ctx context.Context, is Operation) {
	o := &m.operations
	labels := [2]string{o.label(is, m.client(ctx)), is.Kind}
	if is.Kind == "" {
		labels[1] = noneLabel
	}
	of := o.seriesOf(labels)
	if is.Took > 0 {
		of.duration.Observe(is.Took.Seconds())
	}
	if len(is.Codes) == 0 {
		of.succeeded.Inc()
		return
	}
	of.failed.Inc()
	for _, code := range is.Codes {
		o.errors.WithLabelValues(labels[0], labels[1], string(code)).Inc()
	}
}

// seriesOf is the series of these labels, of which there are few.
func (o *operationMetrics) seriesOf(labels [2]string) *operationSeries {
	o.mu.RLock()
	found := o.series[labels]
	o.mu.RUnlock()
	if found != nil {
		return found
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if found = o.series[labels]; found == nil {
		found = &operationSeries{succeeded: o.total.WithLabelValues(labels[0], labels[1], "ok"), failed: o.total.WithLabelValues(labels[0], labels[1], "error"),
			duration: o.duration.WithLabelValues(labels[0], labels[1])}
		o.series[labels] = found
	}
	return found
}

// label is an operation's name as a label.
func (o *operationMetrics) label(is Operation, client string) string {
	if is.Name == "" {
		return noneLabel
	}
	o.mu.RLock()
	_, named := o.named[is.Name]
	_, trusted := o.trusted[is.Name]
	o.mu.RUnlock()
	if named || trusted {
		return is.Name
	}
	if client == "" && !is.Trusted {
		return otherLabel
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	into, most := o.named, o.maxNamed
	if is.Trusted {
		into, most = o.trusted, maxTrusted
	}
	if _, known := into[is.Name]; !known && len(into) >= most {
		return otherLabel
	}
	into[is.Name] = struct{}{}
	return is.Name
}
