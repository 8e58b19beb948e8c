package shop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"portico/store"
)

// IdempotencyKey lets a caller who does not know whether a write was made send
// it again: under the same key it is made once, and answered every time as the
// first time. Each client has its own keys for each operation.
//
// A write that fails keeps no key, so that it can be mended and sent again.
type IdempotencyKey struct {
	Key       string // 1 to MaxIdempotencyKey visible ASCII characters
	Operation string // what is asked for: Mutation.stockTransact
	Input     any    // what is asked of it; its JSON is what "the same" means
	Replayed  func() // called when the answer is the first time's
}

// MaxIdempotencyKey bounds a key, in characters.
const MaxIdempotencyKey = 255

// idempotencyKept is how long a key stands for its first use; where a client
// has more keys than are kept of one, at least keysSafe (keyRoom).
const idempotencyKept = 24 * time.Hour

type idempotencyKeyKey struct{}

// WithIdempotencyKey brings a key to the store's door: the write that is asked
// for under the returned context is made once. INVALID when the key is malformed, CONFLICT when it was used with
// another input, RATE_LIMITED when the client has used too many; all name
// idempotencyKey.
func WithIdempotencyKey(ctx context.Context, key *IdempotencyKey) context.Context {
	return context.WithValue(ctx, idempotencyKeyKey{}, key)
}

// keyGiven is the key that was brought for the write that is asked for; nil
// for none. It is read where a write begins, and nowhere below.
func keyGiven(ctx context.Context) *IdempotencyKey {
	key, _ := ctx.Value(idempotencyKeyKey{}).(*IdempotencyKey)
	return key
}

// updateOnce is update for a write that is answered by what fn returns. Under a
// key, which may be nil, fn runs for the first use only, and a later one is
// answered by what it returned then, which must survive JSON. So what a write
// looks up, it looks up in fn: a second use may come when it is no longer there.
func updateOnce[T any](ctx context.Context, s *Store, key *IdempotencyKey, actor store.Actor, fn func(context.Context, *tx) (T, error)) (T, error) {
	answer, err := updateKept(ctx, s, key, actor, func(ctx context.Context, t *tx) (kept [1]T, err error) {
		kept[0], err = fn(ctx, t)
		return kept, err
	})
	return answer[0], err
}

// updateSilently is updateOnce for a write that is answered by its success.
func updateSilently(ctx context.Context, s *Store, key *IdempotencyKey, actor store.Actor, fn func(context.Context, *tx) error) error {
	_, err := updateKept(ctx, s, key, actor, func(ctx context.Context, t *tx) (none [0]any, err error) {
		return none, fn(ctx, t)
	})
	return err
}

// updateKept is updateOnce for an answer as it is kept, which is a list in
// JSON. It is the zero value where there is an error.
//
// The form stands in rows of up to a day's age, which other versions wrote and
// read.
func updateKept[K any](ctx context.Context, s *Store, key *IdempotencyKey, actor store.Actor, fn func(context.Context, *tx) (K, error)) (K, error) {
	var answer, none K
	write := func(ctx context.Context, t *tx) (err error) {
		answer, err = fn(ctx, t)
		return err
	}
	if key != nil {
		var err error
		write, err = s.once(ctx, key, actor, write, func() string { return string(store.Encode(answer)) }, func(kept string) error {
			answer = none // an earlier try may have set it
			return json.Unmarshal([]byte(kept), &answer)
		})
		if err != nil {
			return none, err
		}
	}
	if err := s.update(ctx, actor, write); err != nil {
		return none, err
	}
	return answer, nil
}

// once makes fn keep the key in its own transaction, so that there is never
// one without the other. kept is what fn came to, once it has run; replay takes
// what it came to the first time.
//
// The key is claimed before anything else is done: of equal writes at once the
// first goes on, and the others wait for what becomes of it.
func (s *Store) once(ctx context.Context, key *IdempotencyKey, actor store.Actor, fn func(context.Context, *tx) error, kept func() string, replay func(string) error) (func(context.Context, *tx) error, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := key.check(); err != nil {
		return nil, err
	}
	hash, err := key.hash()
	if err != nil {
		return nil, err
	}
	if err := s.makeKeyRoom(ctx, actor); err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *tx) error {
		claimed, err := t.exec(ctx, `
			INSERT INTO idempotency_key (client, operation, key, input_hash, outcome, created_at)
			VALUES ($1, $2, $3, $4, '', $5)
			ON CONFLICT (client, operation, key) DO UPDATE
			SET input_hash = excluded.input_hash, outcome = '', created_at = excluded.created_at
			WHERE idempotency_key.created_at <= $6`,
			string(t.actor), key.Operation, key.Key, hash, store.Micros(t.now), store.Micros(t.now.Add(-idempotencyKept)))
		if err != nil {
			return err
		}
		if claimed == 0 {
			return t.replay(ctx, key, hash, replay)
		}
		if err := s.keys.refused(t.actor, t.now); err != nil {
			return err
		}
		if err := fn(ctx, t); err != nil {
			return err
		}
		text := kept()
		t.afterCommit(func() { s.keys.add(t.actor, len(text)) })
		_, err = t.exec(ctx, `UPDATE idempotency_key SET outcome = $4 WHERE client = $1 AND operation = $2 AND key = $3`,
			string(t.actor), key.Operation, key.Key, text)
		return err
	}, nil
}

// replay answers as the first use of the key did.
func (t *tx) replay(ctx context.Context, key *IdempotencyKey, hash string, replay func(string) error) error {
	type first struct{ hash, outcome string }
	was, found, err := one(ctx, t.session, func(rows *sql.Rows) (f first, err error) {
		return f, rows.Scan(&f.hash, &f.outcome)
	}, `SELECT input_hash, outcome FROM idempotency_key WHERE client = $1 AND operation = $2 AND key = $3`,
		string(t.actor), key.Operation, key.Key)
	switch {
	case err != nil:
		return err
	case !found: // it was swept just now
		return errRaced
	case was.hash != hash:
		return &store.Error{Code: store.Conflict, Path: []string{"idempotencyKey"}, Detail: fmt.Sprintf(
			"was used with another input: %q; take a new key for a new request, or send the first request unchanged", key.Key)}
	}
	if err := replay(was.outcome); err != nil {
		return err
	}
	if key.Replayed != nil {
		t.afterCommit(key.Replayed)
	}
	return nil
}

func (k *IdempotencyKey) check() error {
	path := []string{"idempotencyKey"}
	if len(k.Key) < 1 || len(k.Key) > MaxIdempotencyKey {
		return store.Invalidf(path, "must be 1 to %d visible ASCII characters, not %d bytes; a UUID will do", MaxIdempotencyKey, len(k.Key))
	}
	for i := range len(k.Key) {
		if k.Key[i] <= ' ' || k.Key[i] > '~' {
			return store.Invalidf(path, "must be visible ASCII characters, without spaces, not %q; a UUID will do", store.Short(k.Key))
		}
	}
	return nil
}

// hash tells inputs apart. Members in another order, and the key itself, make
// no difference.
func (k *IdempotencyKey) hash() (string, error) {
	decoder := json.NewDecoder(bytes.NewReader(store.Encode(k.Input)))
	decoder.UseNumber()
	var input any
	if err := decoder.Decode(&input); err != nil {
		return "", err
	}
	if members, ok := input.(map[string]any); ok {
		delete(members, "idempotencyKey")
	}
	sum := sha256.Sum256(store.Encode(input))
	return hex.EncodeToString(sum[:]), nil
}

// sweepIdempotencyKeys deletes the keys that no longer stand for anything, in
// short transactions.
//
// An outdated key is as good as gone before that (once).
func (s *Store) sweepIdempotencyKeys(ctx context.Context) error {
	return s.inBatches(ctx, "", func(ctx context.Context, t *tx, rows int) (int64, error) {
		return t.exec(ctx, `
			DELETE FROM idempotency_key
			WHERE (created_at, client, operation, key) <= (
			    SELECT created_at, client, operation, key FROM (
			        SELECT created_at, client, operation, key FROM idempotency_key
			        WHERE created_at <= $1 ORDER BY created_at, client, operation, key LIMIT $2) AS batch
			    ORDER BY created_at DESC, client DESC, operation DESC, key DESC LIMIT 1)`,
			store.Micros(t.now.Add(-idempotencyKept)), rows)
	})
}
