// Package metrics counts requests, GraphQL operations, caches and the database for Prometheus. Metrics registers and
// serves them; its Middleware counts requests. It must not import the GraphQL and REST packages.
package metrics

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/internal/web/server"
)

// Path is where Handler is served.
const Path = "/metrics"

// maxClients is the number of clients with a label of their own; later ones share "other".
const maxClients = 200

// Labels of requests without a name of their own.
const (
	noneLabel  = "none"  // no valid token, or no name
	otherLabel = "other" // too many clients or operations, or an unknown method
)

// durationBuckets are in seconds.
var durationBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Metrics holds the metrics of the server. Labels have only routes, client ids, schema fields and a bounded number of
// operation names; never paths, queries or headers.
type Metrics struct {
	client        func(context.Context) string
	requests      *prometheus.CounterVec
	duration      *prometheus.HistogramVec
	fields        *prometheus.CounterVec
	queries       *prometheus.CounterVec
	documents     *prometheus.CounterVec
	subscriptions prometheus.Gauge
	registry      *prometheus.Registry

	operations operationMetrics

	mu      sync.RWMutex
	clients map[string]bool // with a label of their own; at most maxClients
	series  map[routeKey]*routeSeries
}

// New returns metrics that count from now on. client returns the id of the API client of a request; "" for none.
func New(client func(context.Context) string) *Metrics {
	m := &Metrics{
		client: client,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_http_requests_total", Help: "HTTP requests by surface (rest, graphql, other), route, method, status class and client.",
		}, []string{"surface", "route", "method", "status", "client"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portico_http_request_duration_seconds", Help: "Duration of HTTP requests by surface, route and method.",
			Buckets: durationBuckets,
		}, []string{"surface", "route", "method"}),
		fields: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_fields_total", Help: "GraphQL root fields requested, by field and client; each alias counts.",
		}, []string{"field", "client"}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_queries_total", Help: "GraphQL queries by executor: plan, or gqlgen for queries that have no plan.",
		}, []string{"executor"}),
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_documents_total", Help: "Persisted and trusted GraphQL documents by outcome: found, missing, sent, mismatched, trusted, untrusted or refused.",
		}, []string{"outcome"}),
		subscriptions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "portico_graphql_subscriptions", Help: "Open GraphQL subscriptions.",
		}),
		registry:   prometheus.NewRegistry(),
		operations: newOperationMetrics(),
		clients:    map[string]bool{},
		series:     map[routeKey]*routeSeries{},
	}
	m.registry.MustRegister(m.requests, m.duration, m.fields, m.queries, m.documents, m.subscriptions,
		m.operations.total, m.operations.errors, m.operations.subscriptions, m.operations.duration,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// RegisterResponseCache adds the hits, misses and bytes of the response cache.
func (m *Metrics) RegisterResponseCache(read func() (found, made, bytes uint64)) {
	m.registerCache("portico_response_cache", "Cacheable responses", "cached responses", read)
}

// RegisterReleaseCache adds the same metrics of the release cache.
func (m *Metrics) RegisterReleaseCache(read func() (found, made, bytes uint64)) {
	m.registerCache("portico_release_cache", "Reads of products, lists and other parts of releases", "cached parts of releases", read)
}

// registerCache adds the hits, misses and bytes of a cache. The help texts name what is read, and what is cached.
func (m *Metrics) registerCache(name, reads, what string, read func() (found, made, bytes uint64)) {
	m.registerHits(name, reads, func() (found, made uint64) { found, made, _ = read(); return found, made })
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name + "_bytes", Help: "Memory used by " + what + ", in bytes."},
		func() float64 { _, _, bytes := read(); return float64(bytes) }))
}

// registerHits adds the reads of a cache, by outcome.
func (m *Metrics) registerHits(name, reads string, read func() (found, made uint64)) {
	count := func(outcome string, value func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: name + "_total", Help: reads + ", by outcome: found in the cache, or made.",
			ConstLabels: prometheus.Labels{"outcome": outcome},
		}, func() float64 { return float64(value()) })
	}
	m.registry.MustRegister(
		count("found", func() uint64 { found, _ := read(); return found }),
		count("made", func() uint64 { _, made := read(); return made }))
}

// RegisterStockCache adds the metrics of the stock cache: records, bytes, seconds since the database was last asked for
// changes, full loads, and 1 if it is full.
func (m *Metrics) RegisterStockCache(read func() (held, bytes, age, loads, full float64)) {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	m.registry.MustRegister(
		gauge("portico_stock_cache_records", "Stock records in memory; 0 while they are read from the database.",
			func() float64 { held, _, _, _, _ := read(); return held }),
		gauge("portico_stock_cache_bytes", "Memory used by stock records, in bytes.",
			func() float64 { _, bytes, _, _, _ := read(); return bytes }),
		gauge("portico_stock_cache_age_seconds", "Time since stock changes of other servers were last read; after one second, stock is read from the database.",
			func() float64 { _, _, age, _, _ := read(); return age }),
		gauge("portico_stock_cache_full", "1 while stock is not cached because it exceeds --stock-cache-bytes, else 0.",
			func() float64 { _, _, _, _, full := read(); return full }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "portico_stock_cache_loads_total", Help: "Number of times all stock was read into memory."},
			func() float64 { _, _, _, loads, _ := read(); return loads }))
}

// RegisterLimiter adds the requests that run, wait and were refused.
func (m *Metrics) RegisterLimiter(limiter *server.ConcurrencyLimiter) {
	for _, kind := range []string{server.ReadRequests, server.WriteRequests, server.ExpensiveRequests} {
		labels := prometheus.Labels{"kind": kind}
		m.registry.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "portico_requests_in_work", Help: "Running requests by kind: read, write or expensive.", ConstLabels: labels},
				func() float64 { busy, _, _ := limiter.Stats(kind); return float64(busy) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "portico_requests_waiting", Help: "Requests waiting to run, by kind.", ConstLabels: labels},
				func() float64 { _, waiting, _ := limiter.Stats(kind); return float64(waiting) }),
			prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "portico_requests_refused_total", Help: "Requests refused because the queue was full or their wait timed out, by kind.", ConstLabels: labels},
				func() float64 { _, _, refused := limiter.Stats(kind); return float64(refused) }))
	}
}

// Handler serves the metrics in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Gather returns the metrics as they are now.
func (m *Metrics) Gather() ([]*dto.MetricFamily, error) { return m.registry.Gather() }

// CountField counts a root field of the schema, such as Query.product.
func (m *Metrics) CountField(ctx context.Context, field string) {
	m.fields.WithLabelValues(field, m.clientLabel(m.client(ctx))).Inc()
}

// AddSubscriptions changes the number of open subscriptions.
func (m *Metrics) AddSubscriptions(change int) { m.subscriptions.Add(float64(change)) }

// CountExecutor counts a GraphQL query by its executor: plan or gqlgen.
func (m *Metrics) CountExecutor(name string) { m.queries.WithLabelValues(name).Inc() }

// CountDocument counts a GraphQL document by the outcome of its lookup.
func (m *Metrics) CountDocument(outcome string) { m.documents.WithLabelValues(outcome).Inc() }

// Middleware counts requests. It must run inside auth, and needs middleware.RecordRoute around the mux.
func (m *Metrics) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := web.Record(w)
		r, req := reqctx.Begin(r)
		status := http.StatusInternalServerError // of a panic
		defer func() {
			req.Status = cmp.Or(rec.Status, status)
			m.Count(req, r)
		}()
		next.ServeHTTP(rec, r)
		status = http.StatusOK
	})
}

// Count counts a request that ends now.
func (m *Metrics) Count(req *reqctx.Request, r *http.Request) {
	m.seriesOf(r, req.Route).record(m, req, req.Status, m.client(req))
}

// surfaceLabel depends on the path only, so that requests without a route count too.
func surfaceLabel(r *http.Request) string {
	switch family := web.FirstSegment(r.URL); family {
	case "v2", "catalog":
		return "rest"
	case "graphql":
		return family
	}
	return otherLabel
}

// methodLabel returns a standard method, or otherLabel: clients can send any.
func methodLabel(r *http.Request) string {
	if slices.Contains([]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	}, r.Method) {
		return r.Method
	}
	return otherLabel
}

// clientLabel returns the label of a client. It gives a new client a label of its own, up to maxClients.
func (m *Metrics) clientLabel(client string) string {
	if client == "" {
		return noneLabel
	}
	m.mu.RLock()
	found := m.clients[client]
	m.mu.RUnlock()
	if found {
		return client
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.clients[client]:
	case len(m.clients) == maxClients:
		return otherLabel
	default:
		m.clients[client] = true
	}
	return client
}
