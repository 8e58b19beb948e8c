package db

import (
	"context"
	"database/sql"
	"time"

	"portico/store/db/dialect"
)

// NewCache exports newCache.
func NewCache(config Config) *Cache { return newCache(config) }

// Reload is the periodic reload.
func (s *DB) Reload() { s.reload() }

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

// EchoWithin sets how soon a notification that was sent must arrive, and runs before before one is sent. Call it before
// Follow.
func (s *DB) EchoWithin(timeout time.Duration, before func()) {
	s.echoTimeout = timeout
	listen := s.pools.Listen
	s.pools.Listen = func(ctx context.Context) (dialect.Listener, error) { before(); return listen(ctx) }
}

// HoldReaders takes all connections for reads, which notifications use too, until release is called.
func (s *DB) HoldReaders(ctx context.Context) (release func(), err error) {
	var held []*sql.Conn
	release = func() {
		for _, conn := range held {
			_ = conn.Close()
		}
	}
	for range s.pools.Read.Stats().MaxOpenConnections + s.config.Readers {
		conn, err := s.pools.Read.Conn(ctx)
		if err != nil {
			release()
			return nil, err
		}
		held = append(held, conn)
	}
	return release, nil
}

// Listening reports whether notifications of other servers arrive.
func (s *DB) Listening() bool { return s.listening.Load() }

// Idle reports whether the next poll is one of an idle server.
func (s *DB) Idle() bool { return s.polls.idle.Load() }

// Deafen makes the server's connections receive no notifications, as through PgBouncer in transaction
// mode. Call it before Follow.
func (s *DB) Deafen() {
	s.pools.Listen = func(context.Context) (dialect.Listener, error) { return deafListener{}, nil }
}

type deafListener struct{}

func (deafListener) Wait(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() }
func (deafListener) Close()                                   {}

// CheckpointPages exports checkpointPages.
const CheckpointPages = checkpointPages
