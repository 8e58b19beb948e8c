package status

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Report is the state of a server, and what it did in its last Seconds. Ages, latencies and other durations are in seconds.
type Report struct {
	At        time.Time
	Seconds   float64 // that rates and latencies are of
	SinceBoot bool    // they are of the whole time since the server started
	Server    Server
	Requests  Requests
	Latencies []Latency // by kind
	Busiest   []Latency // routes and operations that took the most time, at most 10
	Caches    []Cache
	Pools     []Pool
	Jobs      []Job     // unfinished, of all servers
	Catalogs  []Catalog // with a served release
	Problems  []string  // what to look at first

	FailedWrites map[string]float64 // in Seconds, by cause; without those that are 0
}

// Server is the process.
type Server struct {
	Version     string
	Database    string // sqlite or postgres
	DatabaseUp  bool
	Uptime      float64
	CPU         float64 // processors in use
	MemoryBytes float64
	OpenFiles   float64
}

// Requests are those of HTTP.
type Requests struct {
	PerSecond     float64
	ByStatus      map[string]float64 // per second, by class: 2xx
	GraphQLErrors float64            // operations with errors per second, whose status is 2xx too
	Running       float64
	Waiting       float64
	Refused       float64 // in Seconds
	Subscriptions float64
}

// Latency is how long requests or operations of a name took.
type Latency struct {
	Name      string
	PerSecond float64
	P50       *float64 // nil without any
	P99       *float64
	busy      float64 // sum of the durations in seconds, by which Busiest sorts
}

// Cache is a cache in memory.
type Cache struct {
	Name    string
	HitRate *float64 // 0 to 1; nil without reads
	Bytes   float64
}

// Pool is a pool of database connections.
type Pool struct {
	Name  string
	InUse float64
	Idle  float64
	Max   float64
	Waits float64 // in Seconds
}

// Job is the unfinished jobs of a kind in a state.
type Job struct {
	Kind   string
	State  string
	Count  float64
	Oldest float64
}

// Catalog is the served release of a catalog.
type Catalog struct {
	Catalog string
	Age     float64
	Held    bool // by a rollback
}

// maxBusiest is the most routes and operations of a report.
const maxBusiest = 10

// NewReport returns what a server did between two snapshots. If before is nil, or of another process, it is of the whole time
// since the server started.
func NewReport(before, now *Snapshot) *Report {
	started := now.total("process_start_time_seconds")
	if before != nil && (before.total("process_start_time_seconds") != started || !now.At.After(before.At)) {
		before = nil
	}
	uptime := max(float64(now.At.UnixMilli())/1000-started, 0.001)
	r := &Report{At: now.At.UTC(), Seconds: uptime, SinceBoot: before == nil}
	if before != nil {
		r.Seconds = now.At.Sub(before.At).Seconds()
	}
	grown := func(name string) float64 { return max(now.total(name)-before.total(name), 0) }
	r.Server = Server{DatabaseUp: now.total("portico_database_up") == 1, Uptime: uptime, CPU: grown("process_cpu_seconds_total") / r.Seconds,
		MemoryBytes: now.total("process_resident_memory_bytes"), OpenFiles: now.total("process_open_fds")}
	for _, m := range now.families["portico_build_info"].GetMetric() {
		r.Server.Version, r.Server.Database = label(m, "version"), label(m, "engine")
	}
	r.Requests = Requests{PerSecond: grown("portico_http_requests_total") / r.Seconds, ByStatus: map[string]float64{}, Running: now.total("portico_requests_in_work"),
		Waiting: now.total("portico_requests_waiting"), Refused: grown("portico_requests_refused_total"), Subscriptions: now.total("portico_graphql_subscriptions")}
	statuses := before.sums("portico_http_requests_total", "status")
	for status, n := range now.sums("portico_http_requests_total", "status") {
		r.Requests.ByStatus[status] = max(n-statuses[status], 0) / r.Seconds
	}
	r.Requests.GraphQLErrors = max(now.sums("portico_graphql_operations_total", "outcome")["error"]-before.sums("portico_graphql_operations_total", "outcome")["error"], 0) / r.Seconds
	const http, operations = "portico_http_request_duration_seconds", "portico_graphql_operation_duration_seconds"
	r.Latencies = append(latencies(before.histograms(operations, operationKind), now.histograms(operations, operationKind), r.Seconds),
		latencies(before.histograms(http, surfaceKind), now.histograms(http, surfaceKind), r.Seconds)...)
	r.Busiest = append(latencies(before.histograms(operations, operationName), now.histograms(operations, operationName), r.Seconds),
		latencies(before.histograms(http, routeName), now.histograms(http, routeName), r.Seconds)...)
	slices.SortStableFunc(r.Busiest, func(a, b Latency) int { return cmp.Compare(b.busy, a.busy) })
	r.Busiest = slices.DeleteFunc(r.Busiest, func(l Latency) bool { return l.PerSecond == 0 })
	r.Busiest = r.Busiest[:min(len(r.Busiest), maxBusiest)]
	r.Caches = caches(before, now)
	failed := before.sums("portico_database_failed_writes_total", "cause")
	r.FailedWrites = now.sums("portico_database_failed_writes_total", "cause")
	for cause, n := range r.FailedWrites {
		r.FailedWrites[cause] = max(n-failed[cause], 0)
	}
	maps.DeleteFunc(r.FailedWrites, func(_ string, n float64) bool { return n == 0 })
	r.addDatabase(before, now)
	r.addProblems()
	return r
}

// latencies returns what happened between two sets of histograms, for the names that now has, in order.
func latencies(before, now map[string]*histogram, seconds float64) []Latency {
	var list []Latency
	for _, name := range slices.Sorted(maps.Keys(now)) {
		h := now[name].since(before[name])
		list = append(list, Latency{name, h.count() / seconds, h.quantile(.5), h.quantile(.99), h.sum})
	}
	return list
}

// caches returns the hit rates between two snapshots, and the sizes now.
func caches(before, now *Snapshot) []Cache {
	var list []Cache
	for _, c := range []struct{ name, metric string }{{"responses", "portico_response_cache"}, {"parts of releases", "portico_release_cache"}} {
		reads, earlier := now.sums(c.metric+"_total", "outcome"), before.sums(c.metric+"_total", "outcome")
		found, made := max(reads["found"]-earlier["found"], 0), max(reads["made"]-earlier["made"], 0)
		cache := Cache{Name: c.name, Bytes: now.total(c.metric + "_bytes")}
		if found+made > 0 {
			hits := found / (found + made)
			cache.HitRate = &hits
		}
		list = append(list, cache)
	}
	return append(list, Cache{Name: "stock", Bytes: now.total("portico_stock_cache_bytes")})
}

// addDatabase adds the pools, jobs and catalogs.
func (r *Report) addDatabase(before, now *Snapshot) {
	inUse, idle := now.sums("portico_database_connections_in_use", "pool"), now.sums("portico_database_connections_idle", "pool")
	most, waits, waited := now.sums("portico_database_connections_max", "pool"), now.sums("portico_database_connection_waits_total", "pool"), before.sums("portico_database_connection_waits_total", "pool")
	for _, pool := range slices.Sorted(maps.Keys(most)) {
		r.Pools = append(r.Pools, Pool{pool, inUse[pool], idle[pool], most[pool], max(waits[pool]-waited[pool], 0)})
	}
	oldest := map[[2]string]float64{}
	for _, m := range now.families["portico_job_oldest_seconds"].GetMetric() {
		oldest[[2]string{label(m, "kind"), label(m, "state")}] = value(m)
	}
	for _, m := range now.families["portico_jobs"].GetMetric() {
		key := [2]string{label(m, "kind"), label(m, "state")}
		r.Jobs = append(r.Jobs, Job{key[0], key[1], value(m), oldest[key]})
	}
	held := now.max("portico_catalog_held", "catalog")
	ages := now.max("portico_catalog_served_age_seconds", "catalog")
	for _, id := range slices.Sorted(maps.Keys(ages)) {
		r.Catalogs = append(r.Catalogs, Catalog{id, ages[id], held[id] == 1})
	}
}

// writeCauses are sentences about the causes of portico_database_failed_writes_total.
var writeCauses = map[string]string{
	"full": "the disk of the database is full", "read_only": "the database is read-only", "connection": "the database does not respond",
}

// addProblems names what those on call look at first. What happened since the start is no problem of now, except failed writes.
func (r *Report) addProblems() {
	problem := func(when bool, text string) {
		if when {
			r.Problems = append(r.Problems, text)
		}
	}
	problem(!r.Server.DatabaseUp, "The database does not respond.")
	for _, cause := range slices.Sorted(maps.Keys(r.FailedWrites)) {
		since := fmt.Sprintf("in the last %.0f s", r.Seconds)
		if r.SinceBoot {
			since = "since the start"
		}
		problem(true, fmt.Sprintf("%.0f writes failed %s: %s.", r.FailedWrites[cause], since, cmp.Or(writeCauses[cause], cause)))
	}
	problem(r.Requests.ByStatus["5xx"] > 0 && !r.SinceBoot, "Requests fail with status 5xx.")
	problem(r.Requests.Refused > 0 && !r.SinceBoot, "Requests were refused, because the server is overloaded.")
	problem(r.Requests.Waiting > 0, "Requests wait to run.")
	for _, p := range r.Pools {
		problem(p.Waits > 0 && !r.SinceBoot, "Writes or reads wait for a connection of the pool "+p.Name+".")
	}
}
