package web

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
)

// MetricsPath is where metrics are asked for.
const MetricsPath = "/metrics"

// maxClients is how many clients are told apart in metrics; those that come
// later are counted together.
const maxClients = 200

// Words for what has no name, or none that metrics tell apart.
const (
	none      = "none"      // there is no good token, or no name
	other     = "other"     // a client too many, or a method that nothing takes
	unmatched = "unmatched" // no route
)

// durations are the buckets of how long something took, in seconds.
var durations = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

// Metrics counts calls by what may be seen by anyone who watches: routes as
// patterns, ids of clients, fields of the schema, names of operations as far as their number is bounded. No path, query or header is
// in it.
type Metrics struct {
	client   func(context.Context) string
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	fields   *prometheus.CounterVec
	queries  *prometheus.CounterVec
	named    *prometheus.CounterVec
	live     prometheus.Gauge
	registry *prometheus.Registry

	operations operations

	mu      sync.RWMutex
	clients map[string]bool
	series  map[taken]*series
}

// NewMetrics counts calls from now on; client returns the API client that
// asks, an empty text when there is none.
func NewMetrics(client func(context.Context) string) *Metrics {
	m := &Metrics{
		client: client,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_http_requests_total", Help: "Requests answered, by surface (rest, graphql, other), route, method, class of the status, and client.",
		}, []string{"surface", "route", "method", "status", "client"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "portico_http_request_duration_seconds", Help: "How long requests took, by surface, route and method.",
			Buckets: durations,
		}, []string{"surface", "route", "method"}),
		fields: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_fields_total", Help: "Root fields asked for over GraphQL, each alias for itself, by field and client.",
		}, []string{"field", "client"}),
		queries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_queries_total", Help: "GraphQL queries run, by executor: plan, or gqlgen for what plans leave to it.",
		}, []string{"executor"}),
		named: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "portico_graphql_documents_total", Help: "GraphQL documents named by hash or id, or held against the manifest of trusted ones, by outcome: found, missing, sent, mismatched, trusted, untrusted or refused.",
		}, []string{"outcome"}),
		live: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "portico_graphql_subscriptions", Help: "GraphQL subscriptions that are open now.",
		}),
		registry:   prometheus.NewRegistry(),
		operations: newOperations(),
		clients:    map[string]bool{},
		series:     map[taken]*series{},
	}
	m.registry.MustRegister(m.requests, m.duration, m.fields, m.queries, m.named, m.live,
		m.operations.total, m.operations.codes, m.operations.begun, m.operations.took,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Answers has the metrics tell what became of the answers that are kept: how
// many were found, how many had to be made, and how many bytes they take.
func (m *Metrics) Answers(read func() (found, made, bytes uint64)) {
	m.kept("portico_kept_answers", "Answers that can be kept", "kept answers", read)
}

// Parts has the metrics tell the same of parts of releases.
func (m *Metrics) Parts(read func() (found, made, bytes uint64)) {
	m.kept("portico_kept_parts", "Reads of products, lists and other parts of releases", "kept parts of releases", read)
}

// Fragments has the metrics tell the same of the fragments that answers are put
// together from; what they take in memory counts with the answers.
func (m *Metrics) Fragments(read func() (found, made uint64)) {
	m.found("portico_kept_fragments", "Products written into answers that were made, as far as a fragment of them can be kept", read)
}

// kept is how often something was found in memory, and how much that takes.
func (m *Metrics) kept(name, reads, what string, read func() (found, made, bytes uint64)) {
	m.found(name, reads, func() (found, made uint64) { found, made, _ = read(); return found, made })
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name + "_bytes", Help: "Memory that " + what + " take."},
		func() float64 { _, _, bytes := read(); return float64(bytes) }))
}

// found is how often something was found in memory, and how often not.
func (m *Metrics) found(name, reads string, read func() (found, made uint64)) {
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

// Stock has the metrics tell of the stock that is in memory: how many records
// that is, how many bytes they take, for how long the database was not asked
// what others wrote, in seconds, and how often all of it was read.
func (m *Metrics) Stock(read func() (held, bytes, age, loads, full float64)) {
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

// Turns has the metrics tell how many requests are worked on, how many wait for
// their turn, and how many were refused for want of one.
func (m *Metrics) Turns(turns *Turns) {
	for _, kind := range []string{ReadTurns, WriteTurns, ExpensiveTurns} {
		labels := prometheus.Labels{"kind": kind}
		m.registry.MustRegister(
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "portico_requests_in_work", Help: "Requests that have their turn, by kind: read, write or expensive.", ConstLabels: labels},
				func() float64 { busy, _, _ := turns.Busy(kind); return float64(busy) }),
			prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "portico_requests_waiting", Help: "Requests that wait for their turn, by kind.", ConstLabels: labels},
				func() float64 { _, waiting, _ := turns.Busy(kind); return float64(waiting) }),
			prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "portico_requests_refused_total", Help: "Requests refused because too many waited, or their turn did not come in time, by kind.", ConstLabels: labels},
				func() float64 { _, _, refused := turns.Busy(kind); return float64(refused) }))
	}
}

// Handler answers MetricsPath in the text format of Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Field counts a root field of GraphQL, such as Query.product. It must be one
// of the schema.
func (m *Metrics) Field(ctx context.Context, field string) {
	m.fields.WithLabelValues(field, m.who(m.client(ctx))).Inc()
}

// Subscriptions counts those that begin and end.
func (m *Metrics) Subscriptions(change int) { m.live.Add(float64(change)) }

// Executor counts a GraphQL query by what runs it: plan or gqlgen.
func (m *Metrics) Executor(name string) { m.queries.WithLabelValues(name).Inc() }

// Document counts a GraphQL document by what became of its name.
func (m *Metrics) Document(outcome string) { m.named.WithLabelValues(outcome).Inc() }

// Middleware counts requests. It stands inside of what finds out who is
// asking, and needs Route around the mux to learn their routes.
func (m *Metrics) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := record(w)
		r, known := reqctx.Begin(r)
		status := http.StatusInternalServerError // unless it returns, as in AccessLog
		defer func() {
			known.Status = cmp.Or(rec.status, status)
			m.of(r, known.Route).count(m, known, known.Status, m.client(r.Context()))
		}()
		next.ServeHTTP(rec, r)
		status = http.StatusOK
	})
}

// Route tells Middleware which route of a mux, or of a mux within it, a
// request took. Nothing between them may replace the request.
func Route(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if known := reqctx.From(r.Context()); known != nil {
			defer func() { known.Route = r.Pattern }()
		}
		mux.ServeHTTP(w, r)
	})
}

// surfaceOf goes by the path alone, so that what has no route counts too.
func surfaceOf(r *http.Request) string {
	switch family := Family(r.URL); family {
	case "v2", "catalog":
		return "rest"
	case "graphql":
		return family
	}
	return other
}

// routeOf is a route as a label.
func routeOf(pattern string) string { return cmp.Or(reqctx.RoutePath(pattern), unmatched) }

func methodOf(r *http.Request) string {
	if slices.Contains([]string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
	}, r.Method) {
		return r.Method
	}
	return other
}

// who is a client as a label.
func (m *Metrics) who(client string) string {
	if client == "" {
		return none
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
		return other
	default:
		m.clients[client] = true
	}
	return client
}
