package metrics

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"portico/store"
)

// Operation is a GraphQL operation that ended or was refused.
type Operation struct {
	Name    string        // empty for none
	Kind    string        // query, mutation or subscription; empty if there was none
	Trusted bool          // from a trusted document
	Took    time.Duration // 0 for streams
	Codes   []store.Code  // of its errors
}

// maxTrusted is the number of operations of trusted documents with a label of their own.
const maxTrusted = 1000

// operationMetrics labels operations by name. Names of unauthenticated requests get no label, and others only up to
// maxNamed.
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

// operationSeries holds the series of an operation, so that labels are looked up once.
type operationSeries struct {
	succeeded, failed prometheus.Counter
	duration          prometheus.Observer
}

// SetMaxOperations sets the number of operations with a label of their own, besides those of trusted documents. Call it before
// the first operation.
func (m *Metrics) SetMaxOperations(most int) {
	m.operations.maxNamed = most
}

func newOperationMetrics() operationMetrics {
	return operationMetrics{
		maxNamed: 100,
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_operations_total", Help: "GraphQL operations that ended or were refused, by name, kind (query, mutation, subscription or none) and outcome: ok, or error if the response has errors.",
		}, []string{"operation", "kind", "outcome"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_operation_errors_total", Help: "GraphQL operations with errors, by name, kind and extensions.code; an operation counts once for each of its codes.",
		}, []string{"operation", "kind", "code"}),
		subscriptions: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_subscriptions_begun_total", Help: "GraphQL subscriptions started, by name; portico_graphql_operations_total counts them when they end.",
		}, []string{"operation"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portico_graphql_operation_duration_seconds", Help: "Duration of GraphQL queries and mutations by name and kind.",
			Buckets: durationBuckets,
		}, []string{"operation", "kind"}),
		named: map[string]struct{}{}, trusted: map[string]struct{}{}, series: map[[2]string]*operationSeries{},
	}
}

// CountSubscription counts a subscription that begins.
func (m *Metrics) CountSubscription(ctx context.Context, op Operation) {
	m.operations.subscriptions.WithLabelValues(m.operations.label(op, m.client(ctx))).Inc()
}

// CountOperation counts an operation that ended or was refused.
func (m *Metrics) CountOperation(ctx context.Context, op Operation) {
	o := &m.operations
	labels := [2]string{o.label(op, m.client(ctx)), op.Kind}
	if op.Kind == "" {
		labels[1] = noneLabel
	}
	series := o.seriesOf(labels)
	if op.Took > 0 {
		series.duration.Observe(op.Took.Seconds())
	}
	if len(op.Codes) == 0 {
		series.succeeded.Inc()
		return
	}
	series.failed.Inc()
	for _, code := range op.Codes {
		o.errors.WithLabelValues(labels[0], labels[1], string(code)).Inc()
	}
}

// seriesOf returns the series of a name and kind, which it creates for the first operation.
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

// label returns the label of an operation: its name, if the name has a label already or gets one now, else otherLabel. Trusted
// documents add up to maxTrusted names, and authenticated clients up to maxNamed.
func (o *operationMetrics) label(op Operation, client string) string {
	if op.Name == "" {
		return noneLabel
	}
	o.mu.RLock()
	_, named := o.named[op.Name]
	_, trusted := o.trusted[op.Name]
	o.mu.RUnlock()
	if named || trusted {
		return op.Name
	}
	if client == "" && !op.Trusted {
		return otherLabel
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	into, most := o.named, o.maxNamed
	if op.Trusted {
		into, most = o.trusted, maxTrusted
	}
	if _, found := into[op.Name]; !found && len(into) >= most {
		return otherLabel
	}
	into[op.Name] = struct{}{}
	return op.Name
}
