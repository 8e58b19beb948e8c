package metrics

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// routeKey identifies the labels of a request.
type routeKey struct{ surface, pattern, method string }

// routeSeries holds the series of a route and method, so that labels are looked up once.
type routeSeries struct {
	labels   [3]string // surface, route, method
	duration prometheus.Observer

	mu       sync.RWMutex
	requests map[requestOutcome]prometheus.Counter
}

// requestOutcome is how a request ended.
type requestOutcome struct {
	class  int // of the status: 2 is 2xx
	client string
}

// seriesOf returns the series of a request. Requests without a route share one per API and method.
func (m *Metrics) seriesOf(r *http.Request, pattern string) *routeSeries {
	key := routeKey{surfaceLabel(r), pattern, methodLabel(r)}
	m.mu.RLock()
	found := m.series[key]
	m.mu.RUnlock()
	if found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if found = m.series[key]; found == nil {
		labels := [3]string{key.surface, web.RouteLabel(pattern), key.method}
		found = &routeSeries{labels: labels, duration: m.duration.WithLabelValues(labels[:]...), requests: map[requestOutcome]prometheus.Counter{}}
		m.series[key] = found
	}
	return found
}

// record counts a request. It does not record the duration of streams.
func (s *routeSeries) record(m *Metrics, req *reqctx.Request, status int, client string) {
	if !req.Streaming {
		s.duration.Observe(time.Since(req.Start).Seconds())
	}
	key := requestOutcome{status / 100, m.clientLabel(client)}
	s.mu.RLock()
	counter := s.requests[key]
	s.mu.RUnlock()
	if counter == nil { // concurrent requests get the same counter from the vector
		counter = m.requests.WithLabelValues(s.labels[0], s.labels[1], s.labels[2], strconv.Itoa(key.class)+"xx", key.client)
		s.mu.Lock()
		s.requests[key] = counter
		s.mu.Unlock()
	}
	counter.Inc()
}
