package db

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"

	"portico/store"
)

// keyLifetime returns the lifetime of a key in microseconds. A client over its quota may
// lose keys older than minKeyAge earlier (keyQuota).
func (s *DB) keyLifetime() int64 {
	if s.config.KeyLifetime < 0 {
		return math.MaxInt64
	}
	return cmp.Or(s.config.KeyLifetime, defaultKeyLifetime).Microseconds()
}

// keysExpireBefore returns the time, in microseconds, before which keys have expired.
func (s *DB) keysExpireBefore(ctx context.Context) (int64, error) {
	now, err := s.SafeNow(ctx)
	return store.Micros(now) - s.keyLifetime(), err
}

// UpdateOnce is Update for a write that returns a value. Under a key, which may be
// nil, fn runs only for the first use; later uses return the stored value, which must
// survive JSON. Look up everything in fn: it may be gone at the second use.
func UpdateOnce[T any](ctx context.Context, s *DB, key *store.IdempotencyKey, actor store.Actor, fn func(context.Context, *Tx) (T, error)) (T, error) {
	answer, err := UpdateKept(ctx, s, key, actor, func(ctx context.Context, t *Tx) (kept [1]T, err error) {
		kept[0], err = fn(ctx, t)
		return kept, err
	})
	return answer[0], err
}

// UpdateSilently is UpdateOnce for a write without a value.
func UpdateSilently(ctx context.Context, s *DB, key *store.IdempotencyKey, actor store.Actor, fn func(context.Context, *Tx) error) error {
	_, err := UpdateKept(ctx, s, key, actor, func(ctx context.Context, t *Tx) (none [0]any, err error) {
		return none, fn(ctx, t)
	})
	return err
}

// UpdateKept is UpdateOnce for a value that is stored as a JSON list. It returns the
// zero value with an error. Other versions of the program read the same rows for up to
// a day, so the form must stay compatible.
func UpdateKept[K any](ctx context.Context, s *DB, key *store.IdempotencyKey, actor store.Actor, fn func(context.Context, *Tx) (K, error)) (K, error) {
	var answer, none K
	write := func(ctx context.Context, t *Tx) (err error) {
		answer, err = fn(ctx, t)
		return err
	}
	if key != nil {
		var err error
		write, err = s.once(ctx, key, actor, write, func() string { return string(store.Encode(answer)) }, func(kept string) error {
			answer = none // an earlier attempt may have set it
			return json.Unmarshal([]byte(kept), &answer)
		})
		if err != nil {
			return none, err
		}
	}
	if err := s.Update(ctx, actor, write); err != nil {
		return none, err
	}
	return answer, nil
}

// once returns fn extended to claim and store the key in the same transaction. kept
// returns the value to store; replay takes a stored one.
//
// The key is claimed first: concurrent duplicates wait for the first use. Its age
// counts by the database's clock, so that servers with wrong clocks do not expire it
// early or keep it too long.
func (s *DB) once(ctx context.Context, key *store.IdempotencyKey, actor store.Actor, fn func(context.Context, *Tx) error, kept func() string, replay func(string) error) (func(context.Context, *Tx) error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := key.Check(); err != nil {
		return nil, err
	}
	hash, err := key.Hash()
	if err != nil {
		return nil, err
	}
	if err := s.enforceKeyQuota(ctx, actor); err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *Tx) error {
		claimed, err := t.Exec(ctx, `
			INSERT INTO idempotency_key (client, operation, key, input_hash, outcome, created_at)
			VALUES ($1, $2, $3, $4, '', `+s.TruncatedClockSQL()+`)
			ON CONFLICT (client, operation, key) DO UPDATE
			SET input_hash = excluded.input_hash, outcome = '', created_at = excluded.created_at
			WHERE idempotency_key.created_at <= `+t.EarlierSQL(`CAST($5 AS BIGINT)`)+` - CAST($6 AS BIGINT)`,
			string(t.Actor), key.Operation, key.Key, hash, store.Micros(t.Now), s.keyLifetime())
		if err != nil {
			return err
		}
		if claimed == 0 {
			return t.replay(ctx, key, hash, replay)
		}
		if err := s.keys.checkRejected(t.Actor, t.Now); err != nil {
			return err
		}
		if err := fn(ctx, t); err != nil {
			return err
		}
		text := kept()
		t.AfterCommit(func() { s.keys.add(t.Actor, len(text)) })
		_, err = t.Exec(ctx, `UPDATE idempotency_key SET outcome = $4 WHERE client = $1 AND operation = $2 AND key = $3`,
			string(t.Actor), key.Operation, key.Key, text)
		return err
	}, nil
}

// replay returns the stored result of the first use of the key.
func (t *Tx) replay(ctx context.Context, key *store.IdempotencyKey, hash string, replay func(string) error) error {
	type first struct{ hash, outcome string }
	was, found, err := One(ctx, t.Session, func(rows *sql.Rows) (f first, err error) {
		return f, rows.Scan(&f.hash, &f.outcome)
	}, `SELECT input_hash, outcome FROM idempotency_key WHERE client = $1 AND operation = $2 AND key = $3`,
		string(t.Actor), key.Operation, key.Key)
	switch {
	case err != nil:
		return err
	case !found: // swept in between
		return ErrRetryWrite
	case was.hash != hash:
		return &store.Error{Code: store.Conflict, Path: []string{"idempotency_key"}, Detail: fmt.Sprintf(
			"was used with another input: %q; use a new key for a new request, or resend the first request unchanged", key.Key)}
	}
	if err := replay(was.outcome); err != nil {
		return err
	}
	// The versions of the first use are at most the current ones.
	versions, err := Collect(ctx, t.Session, ScanPair[Topic, int64], `SELECT topic, version FROM change`)
	if err != nil {
		return err
	}
	for _, topic := range versions {
		t.SetVersion(topic.Key, topic.Value)
	}
	if key.Replayed != nil {
		t.AfterCommit(key.Replayed)
	}
	return nil
}

// SweepIdempotencyKeys deletes expired keys in short transactions. Expired keys have
// no effect before they are deleted.
func (s *DB) SweepIdempotencyKeys(ctx context.Context) error {
	before, err := s.keysExpireBefore(ctx)
	if err != nil {
		return err
	}
	return s.InBatches(ctx, "", func(ctx context.Context, t *Tx, rows int) (int64, error) {
		return t.Exec(ctx, `
			DELETE FROM idempotency_key
			WHERE (created_at, client, operation, key) <= (
			    SELECT created_at, client, operation, key FROM (
			        SELECT created_at, client, operation, key FROM idempotency_key
			        WHERE created_at <= $1 ORDER BY created_at, client, operation, key LIMIT $2) AS batch
			    ORDER BY created_at DESC, client DESC, operation DESC, key DESC LIMIT 1)`,
			before, rows)
	})
}

// IdempotencyKeysDue counts expired keys, up to most.
func (s *DB) IdempotencyKeysDue(ctx context.Context, most int) (int, error) {
	before, err := s.keysExpireBefore(ctx)
	if err != nil {
		return 0, err
	}
	return CountUpTo(ctx, s, most, `idempotency_key WHERE created_at <= $1`, before)
}

// enforceKeyQuota deletes a client's oldest keys if it is over its quota. It counts them only when due. Keys younger than
// minKeyAge stay; if they alone exceed the quota, it rejects the client's new keys for keyRejectTime.
func (s *DB) enforceKeyQuota(ctx context.Context, client store.Actor) error {
	if !s.keys.due(client, s.Now()) {
		return nil
	}
	until, err := s.newestExcessKey(ctx, client)
	if err != nil || until == 0 {
		return err
	}
	now, err := s.SafeNow(ctx)
	if err != nil {
		return err
	}
	if safe := store.Micros(now.Add(-minKeyAge)); until > safe {
		s.keys.reject(client, s.Now().Add(keyRejectTime))
		until = safe
	}
	return s.InBatches(ctx, "", func(ctx context.Context, t *Tx, rows int) (int64, error) {
		return t.Exec(ctx, `
			DELETE FROM idempotency_key
			WHERE client = $1 AND (created_at, operation, key) <= (
			    SELECT created_at, operation, key FROM (
			        SELECT created_at, operation, key FROM idempotency_key
			        WHERE client = $1 AND created_at <= $2 ORDER BY created_at, operation, key LIMIT $3) AS batch
			    ORDER BY created_at DESC, operation DESC, key DESC LIMIT 1)`,
			string(client), until, rows)
	})
}

// newestExcessKey returns the creation time of the newest key over the client's quota, in
// microseconds, or 0 if all fit.
func (s *DB) newestExcessKey(ctx context.Context, client store.Actor) (created int64, err error) {
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
		if keys > s.keys.maxKeys || bytes > s.keys.maxBytes {
			return k.at, nil
		}
	}
	return 0, nil
}
