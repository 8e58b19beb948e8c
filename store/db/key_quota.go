package db

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"portico/store"
)

// minKeyAge is the least lifetime of a key, which covers retries. Rather than drop a
// younger key, and risk a repeated write, the server rejects new keys.
const minKeyAge = time.Hour

const (
	defaultMaxKeys     = 100_000
	defaultMaxKeyBytes = 256 << 20
	defaultKeyLifetime = 24 * time.Hour

	// keyCheckShare: a client's keys are counted when this process has added 1/50 of the
	// quota. The quota is exact to that share.
	keyCheckShare = 50

	// keyRejectTime is how long a client's new keys are rejected before they are
	// counted again.
	keyRejectTime = 30 * time.Second
)

// keyQuota bounds the number and bytes of each client's keys. The oldest are deleted
// first, those younger than minKeyAge never.
type keyQuota struct {
	maxKeys  int
	maxBytes int64

	mu      sync.Mutex
	clients map[store.Actor]*keyUsage
}

// keyUsage is what a client has added since its keys were counted.
type keyUsage struct {
	keys        int
	bytes       int64
	rejectUntil time.Time // end of the rejection; zero for none
}

// isRejecting reports whether new keys are rejected now. It ignores an end further away
// than keyRejectTime, as after the clock was set back.
func (k *keyUsage) isRejecting(now time.Time) bool {
	return now.Before(k.rejectUntil) && !now.Before(k.rejectUntil.Add(-keyRejectTime))
}

func newKeyQuota(config Config) *keyQuota {
	return &keyQuota{maxKeys: cmp.Or(config.MaxKeys, defaultMaxKeys), maxBytes: cmp.Or(config.MaxKeyBytes, defaultMaxKeyBytes), clients: map[store.Actor]*keyUsage{}}
}

// add counts a stored key and the bytes of its response.
func (q *keyQuota) add(client store.Actor, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.clients[client]
	if c == nil {
		c = &keyUsage{}
		q.clients[client] = c
	}
	c.keys++
	c.bytes += int64(bytes)
}

// due reports whether a client's keys must be counted: when it has added a share of the quota (keyCheckShare), or when its
// rejection has ended. It returns true to one caller, and forgets what the client has added.
func (q *keyQuota) due(client store.Actor, now time.Time) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.clients[client]
	if c == nil || c.keys < max(1, q.maxKeys/keyCheckShare) && c.bytes < max(1, q.maxBytes/keyCheckShare) && (c.rejectUntil.IsZero() || c.isRejecting(now)) {
		return false
	}
	delete(q.clients, client)
	return true
}

// reject rejects new keys of a client until a time.
func (q *keyQuota) reject(client store.Actor, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.clients[client] = &keyUsage{rejectUntil: until}
}

// checkRejected returns RATE_LIMITED if new keys of the client are rejected.
func (q *keyQuota) checkRejected(client store.Actor, now time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if c := q.clients[client]; c == nil || !c.isRejecting(now) {
		return nil
	}
	return &store.Error{Code: store.RateLimited, Path: []string{"idempotency_key"}, Detail: fmt.Sprintf(
		"exceeds the quota: a client may have %d keys and %d bytes of stored responses an hour; retry later, or send the request without a key", q.maxKeys, q.maxBytes)}
}
