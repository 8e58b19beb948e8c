package storetest

import (
	"portico/store/shop"
	"portico/store/storetest/testkit"
)

// WithClock sets the clock of a store, and of its database where the database computes ages.
func WithClock(clock *testkit.Clock) func(*shop.Config) {
	return func(config *shop.Config) { config.Clock, config.DatabaseClock = clock.Now, clock.Now }
}

// WithStoreClock sets the clock of a store but not of its database.
func WithStoreClock(clock *testkit.Clock) func(*shop.Config) {
	return func(config *shop.Config) { config.Clock = clock.Now }
}

// WithKeyQuota limits the idempotency keys of a client, and their bytes.
func WithKeyQuota(keys int, bytes int64) func(*shop.Config) {
	return func(config *shop.Config) { config.MaxKeys, config.MaxKeyBytes = keys, bytes }
}

// WithLayers makes a store put each delta upon the served release, up to the most layers.
func WithLayers(config *shop.Config) { config.LayerFactor = -1 }

// WithoutDeltas makes a store publish complete releases only.
func WithoutDeltas(config *shop.Config) { config.WholeReleases = true }
