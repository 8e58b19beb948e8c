package db

import (
	"context"
	"time"
)

// WithThrottle returns a context under which Throttle pauses while requests wait. It begins to measure how long they
// wait, so that the first Throttle knows.
func (s *DB) WithThrottle(ctx context.Context) context.Context {
	s.delays.send(time.Now())
	return context.WithValue(ctx, throttleKey{}, &throttle{requests: &s.requests, probe: &s.delays, resumed: time.Now(), lastRequests: s.requests.Load()})
}
