package db

import "time"

// TellWaitsAfter has waits for a migration be told of sooner.
func TellWaitsAfter(wait time.Duration) { firstWaitLog = wait }

// NewCache is a database's cache.
func NewCache(config Config) *Cache { return newCache(config) }

// Bytes is what the cache charges for its entries.
func (c *Cache) Bytes() uint64 {
	c.shared.CleanUp()
	return c.shared.WeightedSize()
}
