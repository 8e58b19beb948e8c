package testkit

import (
	"sync"
	"time"
)

// Noon is the time of tests whose clock has not moved.
var Noon = time.Date(2024, 5, 30, 12, 0, 0, 0, time.UTC)

// Day is how far many tests move their clock.
const Day = 24 * time.Hour

// Clock is a clock that only Set and Advance move. Now fits shop.Config.Clock. It is safe for
// concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows now.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to any time, also back.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance moves the clock forward and returns its new time.
func (c *Clock) Advance(by time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
	return c.now
}
