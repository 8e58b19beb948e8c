package web

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"portico/internal/reqctx"
)

// taken is the way that a request took, from which its labels follow.
type taken struct{ surface, pattern, method string }

// series is what is counted of one route and method, whose labels are looked
// up once.
type series struct {
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

// of is the series of a request. There are as many as there are routes and
// methods, whatever strangers send: what has no route is one of a surface.
func (m *Metrics) of(r *http.Request, pattern string) *series {
	key := taken{surfaceOf(r), pattern, methodOf(r)}
	m.mu.RLock()
	found := m.series[key]
	m.mu.RUnlock()
	if found != nil {
		return found
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if found = m.series[key]; found == nil {
		labels := [3]string{key.surface, routeOf(pattern), key.method}
		found = &series{labels: labels, duration: m.duration.WithLabelValues(labels[:]...), requests: map[outcome]prometheus.Counter{}}
		m.series[key] = found
	}
	return found
}

// count counts a request that was answered; of one whose answer lasted as long
// as its client wanted, not how long it took.
func (s *series) count(m *Metrics, known *reqctx.Request, status int, client string) {
	if !known.Streaming {
		s.duration.Observe(time.Since(known.Start).Seconds())
	}
	key := outcome{status / 100, m.who(client)}
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
