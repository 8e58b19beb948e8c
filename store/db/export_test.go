package db

import (
	"context"
	"time"
)

// TellWaitsAfter shortens the times after which a wait for a migration is logged.
func TellWaitsAfter(wait time.Duration) { firstWaitLog = wait }

// NewCache exports newCache.
func NewCache(config Config) *Cache { return newCache(config) }

// Bytes is the size that the cache reports.
func (c *Cache) Bytes() uint64 {
	c.shared.CleanUp()
	return c.shared.WeightedSize()
}

// SetIdle makes the server idle after some time without requests, and sets how often it polls then. Call
// it before Follow.
func (s *DB) SetIdle(after, every time.Duration) {
	s.pace.idleAfter, s.pace.idleEvery = after, every
	s.IdleWithoutRequests()
}

// Idle reports whether the next poll is one of an idle server.
func (s *DB) Idle() bool { return s.polls.idle.Load() }

// Deafen makes the server's connections receive no notifications, as through PgBouncer in transaction
// mode. Call it before Follow.
func (s *DB) Deafen() {
	s.pools.listen = func(context.Context) (listener, error) { return deafListener{}, nil }
}

type deafListener struct{}

func (deafListener) Wait(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
func (deafListener) Close()                                   {}

// CheckpointPages exports checkpointPages.
const CheckpointPages = checkpointPages
