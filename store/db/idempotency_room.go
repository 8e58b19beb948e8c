package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"sync"
	"time"

	"portico/store"
)

// keysSafe is how long a key stands for its first use whatever comes: retries
// come within it. To drop a younger one would have a write made twice, without
// a word, so that rather no further key is taken.
const keysSafe = time.Hour

const (
	defaultKeptKeys     = 100_000
	defaultKeptKeyBytes = 256 << 20
	defaultKeptKeyTime  = 24 * time.Hour

	// keyLooks is how often a client's keys are looked at, in shares of the
	// bounds that this process has added; the bounds hold as nearly as that.
	keyLooks = 50

	// keysRefused is how long a client's new keys are refused before its keys
	// are looked at again.
	keysRefused = 30 * time.Second
)

// keyRoom bounds the keys of each client, by their number and by the bytes of
// their answers: the oldest go first, those younger than keysSafe never.
type keyRoom struct {
	most  int
	bytes int64

	mu      sync.Mutex
	clients map[store.Actor]*keysAdded
}

// keysAdded is what was added since a client's keys were looked at.
type keysAdded struct {
	keys    int
	bytes   int64
	refused time.Time // until when; zero for not at all
}

// refuses tells whether no key is taken at a moment: none more than keysRefused
// before its end, for a clock that was set back.
func (k *keysAdded) refuses(now time.Time) bool {
	return now.Before(k.refused) && !now.Before(k.refused.Add(-keysRefused))
}

func newKeyRoom(config Config) *keyRoom {
	return &keyRoom{most: cmp.Or(config.KeptKeys, defaultKeptKeys), bytes: cmp.Or(config.KeptKeyBytes, defaultKeptKeyBytes), clients: map[store.Actor]*keysAdded{}}
}

// add counts a key that was kept.
func (r *keyRoom) add(client store.Actor, bytes int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.clients[client]
	if c == nil {
		c = &keysAdded{}
		r.clients[client] = c
	}
	c.keys++
	c.bytes += int64(bytes)
}

// due tells whether a client's keys are to be looked at; it does so to one
// caller.
func (r *keyRoom) due(client store.Actor, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.clients[client]
	if c == nil || c.keys < max(1, r.most/keyLooks) && c.bytes < max(1, r.bytes/keyLooks) && (c.refused.IsZero() || c.refuses(now)) {
		return false
	}
	delete(r.clients, client)
	return true
}

// refuse takes no further key of a client for a while.
func (r *keyRoom) refuse(client store.Actor, until time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients[client] = &keysAdded{refused: until}
}

// refused is RATE_LIMITED where a client's new keys are not taken.
func (r *keyRoom) refused(client store.Actor, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.clients[client]; c == nil || !c.refuses(now) {
		return nil
	}
	return &store.Error{Code: store.RateLimited, Path: []string{"idempotency_key"}, Detail: fmt.Sprintf(
		"is one too many: of one client %d keys and %d bytes of their answers are kept for an hour at least; send the request later, or without a key", r.most, r.bytes)}
}

// makeKeyRoom looks at a client's keys where enough were added, and drops the
// oldest of too many.
func (s *DB) makeKeyRoom(ctx context.Context, client store.Actor) error {
	if !s.keys.due(client, s.Now()) {
		return nil
	}
	keeps, err := s.keysThatFit(ctx, client)
	if err != nil || keeps == 0 {
		return err
	}
	now, err := s.SafeNow(ctx)
	if err != nil {
		return err
	}
	if safe := store.Micros(now.Add(-keysSafe)); keeps > safe {
		s.keys.refuse(client, s.Now().Add(keysRefused))
		keeps = safe
	}
	return s.InBatches(ctx, "", func(ctx context.Context, t *Tx, rows int) (int64, error) {
		return t.Exec(ctx, `
			DELETE FROM idempotency_key
			WHERE client = $1 AND (created_at, operation, key) <= (
			    SELECT created_at, operation, key FROM (
			        SELECT created_at, operation, key FROM idempotency_key
			        WHERE client = $1 AND created_at <= $2 ORDER BY created_at, operation, key LIMIT $3) AS batch
			    ORDER BY created_at DESC, operation DESC, key DESC LIMIT 1)`,
			string(client), keeps, rows)
	})
}

// keysThatFit is the time of the newest of a client's keys that there is no
// room for, in microseconds; 0 when there is room for all.
func (s *DB) keysThatFit(ctx context.Context, client store.Actor) (time int64, err error) {
	type kept struct{ at, bytes int64 }
	keys, bytes := 0, int64(0)
	list, err := Collect(ctx, s.Reader, func(rows *sql.Rows) (k kept, err error) { return k, rows.Scan(&k.at, &k.bytes) },
		`SELECT created_at, CAST(OCTET_LENGTH(outcome) AS BIGINT) FROM idempotency_key WHERE client = $1 ORDER BY created_at DESC`, string(client))
	if err != nil {
		return 0, err
	}
	for _, k := range list {
		keys++
		bytes += k.bytes
		if keys > s.keys.most || bytes > s.keys.bytes {
			return k.at, nil
		}
	}
	return 0, nil
}
