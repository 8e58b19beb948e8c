package db

import "time"

// TellWaitsAfter shortens the times after which a wait for a migration is logged.
func TellWaitsAfter(wait time.Duration) { firstWaitLog = wait }

// NewCache exports newCache.
func NewCache(config Config) *Cache { return newCache(config) }

// Bytes is the size that the cache reports.
func (c *Cache) Bytes() uint64 {
	c.shared.CleanUp()
	return c.shared.WeightedSize()
}
