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

	"portico/internal/reqctx"
	"portico/internal/web"
	"portico/internal/web/server"
)

// Path is where metrics are asked for.
const Path = "/metrics"

// maxClients is how many clients are told apart in metrics; those that come
// later are counted together.
const maxClients = 200

// Words for what has no name, or none that metrics tell apart.
const (
	noneLabel  = "none"  // there is no good token, or no name
	otherLabel = "other" // a client too many, or a method that nothing takes

)

// durationBuckets are the buckets of how long something took, in seconds.
var durationBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Metrics counts calls by what may be seen by anyone who watches: routes as
// patterns, ids of clients, fields of the schema, names of operations as far as their number is bounded. No path, query or header is
// in it.
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
	clients map[string]bool
	series  map[routeKey]*routeSeries
}

// New counts calls from now on; client returns the API client that
// asks, an empty text when there is none.
func New(client func(context.Context) string) *Metrics {
	m := &Metrics{
		client: client,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_http_requests_total", Help: "Requests answered, by surface (rest, graphql, other), route, method, class of the status, and client.",
		}, []string{"surface", "route", "method", "status", "client"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portico_http_request_duration_seconds", Help: "How long requests took, by surface, route and method.",
			Buckets: durationBuckets,
		}, []string{"surface", "route", "method"}),
		fields: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_fields_total", Help: "Root fields asked for over GraphQL, each alias for itself, by field and client.",
		}, []string{"field", "client"}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_queries_total", Help: "GraphQL queries run, by executor: plan, or gqlgen for what plans leave to it.",
		}, []string{"executor"}),
		documents: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_documents_total", Help: "GraphQL documents named by hash or id, or held against the manifest of trusted ones, by outcome: found, missing, sent, mismatched, trusted, untrusted or refused.",
		}, []string{"outcome"}),
		subscriptions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "portico_graphql_subscriptions", Help: "GraphQL subscriptions that are open now.",
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

// RegisterResponseCache has the metrics tell what became of the answers that are kept: how
// many were found, how many had to be made, and how many bytes they take.
func (m *Metrics) RegisterResponseCache(read func() (found, made, bytes uint64)) {
	m.registerCache("portico_kept_answers", "Answers that can be kept", "kept answers", read)
}

// RegisterReleaseCache has the metrics tell the same of parts of releases.
func (m *Metrics) RegisterReleaseCache(read func() (found, made, bytes uint64)) {
	m.registerCache("portico_kept_parts", "Reads of products, lists and other parts of releases", "kept parts of releases", read)
}

// RegisterFragmentCache has the metrics tell the same of the fragments that answers are put
// together from; what they take in memory counts with the answers.
func (m *Metrics) RegisterFragmentCache(read func() (found, made uint64)) {
	m.registerHits("portico_kept_fragments", "Products written into answers that were made, as far as a fragment of them can be kept", read)
}

// registerCache is how often something was found in memory, and how much that takes.
func (m *Metrics) registerCache(name, reads, what string, read func() (found, made, bytes uint64)) {
	m.registerHits(name, reads, func() (found, made uint64) { found, made, _ = read(); return found, made })
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name + "_bytes", Help: "Memory that " + what + " take."},
		func() float64 { _, _, bytes := read(); return float64(bytes) }))
}

// registerHits is how often something was found in memory, and how often not.
func (m *Metrics) registerHits(name, reads string, read func() (found, made uint64)) {
	count := func(outcome string, value func() uint64) prometheus.Collector {
		return prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: name + "_total", Help: reads + ", by what became of them: found, or made.",
			ConstLabels: prometheus.Labels{"outcome": outcome},
		}, func() float64 { return float64(value()) })
	}
	m.registry.MustRegister(
		count("found", func() uint64 { found, _ := read(); return found }),
		count("made", func() uint64 { _, made := read(); return made }))
}

// RegisterStockCache has the metrics tell of the stock that is in memory: how many records
// that is, how many bytes they take, for how long the database was not asked
// what others wrote, in seconds, and how often all of it was read.
func (m *Metrics) RegisterStockCache(read func() (held, bytes, age, loads, full float64)) {
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	m.registry.MustRegister(
		gauge("portico_live_stock_records", "Stock records held in memory; 0 while the database is asked for them.",
			func() float64 { held, _, _, _, _ := read(); return held }),
		gauge("portico_live_stock_bytes", "Memory that stock records take.",
			func() float64 { _, bytes, _, _, _ := read(); return bytes }),
		gauge("portico_live_stock_age_seconds", "Time since the database was last asked what other servers wrote of stock; beyond a second nothing is answered from memory.",
			func() float64 { _, _, age, _, _ := read(); return age }),
		gauge("portico_live_stock_full", "1 while stock is not held in memory because it takes more than --stock-cache-bytes, else 0.",
			func() float64 { _, _, _, _, full := read(); return full }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "portico_live_stock_loads_total", Help: "How often all stock was read into memory."},
			func() float64 { _, _, _, loads, _ := read(); return loads }))
}

// RegisterLimiter has the metrics tell how many requests are worked on, how many wait for
// their turn, and how many were refused for want of one.
func (m *Metrics) RegisterLimiter(turns *server.ConcurrencyLimiter) {
	for _, kind := range []string{server.ReadRequests, server.WriteRequests, server.ExpensiveRequests} {
		labels := prometheus.Labels{"kind": kind}
		m.registry.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "portico_requests_in_work", Help: "Requests that have their turn, by kind: read, write or expensive.", ConstLabels: labels},
				func() float64 { busy, _, _ := turns.Stats(kind); return float64(busy) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "portico_requests_waiting", Help: "Requests that wait for their turn, by kind.", ConstLabels: labels},
				func() float64 { _, waiting, _ := turns.Stats(kind); return float64(waiting) }),
			prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "portico_requests_refused_total", Help: "Requests refused because too many waited, or their turn did not come in time, by kind.", ConstLabels: labels},
				func() float64 { _, _, refused := turns.Stats(kind); return float64(refused) }))
	}
}

// Handler answers Path in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// CountField counts a root field of GraphQL, such as Query.product. It must be one
// of the schema.
func (m *Metrics) CountField(ctx context.Context, field string) {
	m.fields.WithLabelValues(field, m.clientLabel(m.client(ctx))).Inc()
}

// AddSubscriptions counts those that begin and end.
func (m *Metrics) AddSubscriptions(change int) { m.subscriptions.Add(float64(change)) }

// CountExecutor counts a GraphQL query by what runs it: plan or gqlgen.
func (m *Metrics) CountExecutor(name string) { m.queries.WithLabelValues(name).Inc() }

// CountDocument counts a GraphQL document by what became of its name.
func (m *Metrics) CountDocument(outcome string) { m.documents.WithLabelValues(outcome).Inc() }

// Middleware counts requests. It stands inside of what finds out who is
// asking, and needs Route around the mux to learn their routes.
func (m *Metrics) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := web.Record(w)
		r, known := reqctx.Begin(r)
		status := http.StatusInternalServerError // unless it returns, as in AccessLog
		defer func() {
			known.Status = cmp.Or(rec.Status, status)
			m.seriesOf(r, known.Route).record(m, known, known.Status, m.client(r.Context()))
		}()
		next.ServeHTTP(rec, r)
		status = http.StatusOK
	})
}

// apiLabel goes by the path alone, so that what has no route counts too.
func apiLabel(r *http.Request) string {
	switch family := web.FirstSegment(r.URL); family {
	case "v2", "catalog":
		return "rest"
	case "graphql":
		return family
	}
	return otherLabel
}

func methodLabel(r *http.Request) string {
	if slices.Contains([]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	}, r.Method) {
		return r.Method
	}
	return otherLabel
}

// clientLabel is a client as a label.
func (m *Metrics) clientLabel(client string) string {
	if client == "" {
		return noneLabel
	}
	m.mu.RLock()
	known := m.clients[client]
	m.mu.RUnlock()
	if known {
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
