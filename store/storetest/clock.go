package storetest

import (
	"sync"
	"time"

	"portico/store/shop"
)

// Clock stands still until it is told otherwise. Its Now is a store's
// Config.Clock; it may be used from many goroutines.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows the given time.
func NewClock(now time.Time) *Clock { return &Clock{now: now} }

// WithClock has a store go by the clock, and its database too where ages are told: the
// time of all the world passes.
func WithClock(clock *Clock) func(*shop.Config) {
	return func(config *shop.Config) { config.Clock, config.DatabaseClock = clock.Now, clock.Now }
}

// Now is the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set makes the clock show another time, earlier or later.
func (c *Clock) Set(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = now
}

// Advance moves the clock on, and returns the time it shows then.
func (c *Clock) Advance(by time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
	return c.now
}
