package db

import (
	"context"
	"time"
)

// WithThrottle returns a context under which Throttle pauses while requests wait. It begins to measure how long they
// wait, so that the first Throttle knows.
// It is not in throttle.go, which session.go uses: files must not refer to each other in a circle.
func (s *DB) WithThrottle(ctx context.Context) context.Context {
	s.probe.send(time.Now())
	return context.WithValue(ctx, throttleKey{}, &throttle{requests: &s.requests, probe: &s.probe, resumed: time.Now(), lastRequests: s.requests.Load()})
}
