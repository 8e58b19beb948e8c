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

// routeKey is the way that a request took, from which its labels follow.
type routeKey struct{ surface, pattern, method string }

// routeSeries is what is counted of one route and method, whose labels are looked
// up once.
type routeSeries struct {
	labels   [3]string // surface, route, method
	duration prometheus.Observer

	mu       sync.RWMutex
	requests map[outcome]prometheus.Counter
}

// outcome is how a request of a client ended.
type outcome struct {
	class  int // of the status: 2 is 2xx
	client string
}

// seriesOf is the series of a request. There are as many as there are routes and
// methods, whatever strangers send: what has no route is one of a surface.
func (m *Metrics) seriesOf(r *http.Request, pattern string) *routeSeries {
	key := routeKey{apiLabel(r), pattern, methodLabel(r)}
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
		found = &routeSeries{labels: labels, duration: m.duration.WithLabelValues(labels[:]...), requests: map[outcome]prometheus.Counter{}}
		m.series[key] = found
	}
	return found
}

// record counts a request that was answered; of one whose answer lasted as long
// as its client wanted, not how long it took.
func (s *routeSeries) record(m *Metrics, known *reqctx.Request, status int, client string) {
	if !known.Streaming {
		s.duration.Observe(time.Since(known.Start).Seconds())
	}
	key := outcome{status / 100, m.clientLabel(client)}
	s.mu.RLock()
	counter := s.requests[key]
	s.mu.RUnlock()
	if counter == nil { // the vector gives both of two who come at once the same
		counter = m.requests.WithLabelValues(s.labels[0], s.labels[1], s.labels[2], strconv.Itoa(key.class)+"xx", key.client)
		s.mu.Lock()
		s.requests[key] = counter
		s.mu.Unlock()
	}
	counter.Inc()
}
