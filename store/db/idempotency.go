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

// keysKept is how long a key stands for its first use, in microseconds. Where a
// client has more keys than are kept of one, it is keysSafe at least (keyRoom).
func (s *DB) keysKept() int64 {
	if s.opened.KeptKeyTime < 0 {
		return math.MaxInt64 // for ever
	}
	return cmp.Or(s.opened.KeptKeyTime, defaultKeptKeyTime).Microseconds()
}

// keysBefore is when the keys were used first that no longer stand for it, in
// microseconds.
func (s *DB) keysBefore(ctx context.Context) (int64, error) {
	now, err := s.SafeNow(ctx)
	return store.Micros(now) - s.keysKept(), err
}

// UpdateOnce is update for a write that is answered by what fn returns. Under a
// key, which may be nil, fn runs for the first use only, and a later one is
// answered by what it returned then, which must survive JSON. So what a write
// looks up, it looks up in fn: a second use may come when it is no longer there.
func UpdateOnce[T any](ctx context.Context, s *DB, key *store.IdempotencyKey, actor store.Actor, fn func(context.Context, *Tx) (T, error)) (T, error) {
	answer, err := UpdateKept(ctx, s, key, actor, func(ctx context.Context, t *Tx) (kept [1]T, err error) {
		kept[0], err = fn(ctx, t)
		return kept, err
	})
	return answer[0], err
}

// UpdateSilently is UpdateOnce for a write that is answered by its success.
func UpdateSilently(ctx context.Context, s *DB, key *store.IdempotencyKey, actor store.Actor, fn func(context.Context, *Tx) error) error {
	_, err := UpdateKept(ctx, s, key, actor, func(ctx context.Context, t *Tx) (none [0]any, err error) {
		return none, fn(ctx, t)
	})
	return err
}

// UpdateKept is UpdateOnce for an answer as it is kept, which is a list in
// JSON. It is the zero value where there is an error.
//
// The form stands in rows of up to a day's age, which other versions wrote and
// read.
func UpdateKept[K any](ctx context.Context, s *DB, key *store.IdempotencyKey, actor store.Actor, fn func(context.Context, *Tx) (K, error)) (K, error) {
	var answer, none K
	write := func(ctx context.Context, t *Tx) (err error) {
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
	if err := s.Update(ctx, actor, write); err != nil {
		return none, err
	}
	return answer, nil
}

// once makes fn keep the key in its own transaction, so that there is never
// one without the other. kept is what fn came to, once it has run; replay takes
// what it came to the first time.
//
// The key is claimed before anything else is done: of equal writes at once the
// first goes on, and the others wait for what becomes of it. Its age begins by
// the database's clock, whichever server claims it: by that of one which is
// behind it would be outdated at once, and by that of one which is ahead it
// would take another's place for as long.
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
	if err := s.makeKeyRoom(ctx, actor); err != nil {
		return nil, err
	}
	return func(ctx context.Context, t *Tx) error {
		claimed, err := t.Exec(ctx, `
			INSERT INTO idempotency_key (client, operation, key, input_hash, outcome, created_at)
			VALUES ($1, $2, $3, $4, '', `+s.AgesSQL()+`)
			ON CONFLICT (client, operation, key) DO UPDATE
			SET input_hash = excluded.input_hash, outcome = '', created_at = excluded.created_at
			WHERE idempotency_key.created_at <= `+t.EarlierSQL(`CAST($5 AS BIGINT)`)+` - CAST($6 AS BIGINT)`,
			string(t.Actor), key.Operation, key.Key, hash, store.Micros(t.Now), s.keysKept())
		if err != nil {
			return err
		}
		if claimed == 0 {
			return t.replay(ctx, key, hash, replay)
		}
		if err := s.keys.refused(t.Actor, t.Now); err != nil {
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

// replay answers as the first use of the key did.
func (t *Tx) replay(ctx context.Context, key *store.IdempotencyKey, hash string, replay func(string) error) error {
	type first struct{ hash, outcome string }
	was, found, err := One(ctx, t.Session, func(rows *sql.Rows) (f first, err error) {
		return f, rows.Scan(&f.hash, &f.outcome)
	}, `SELECT input_hash, outcome FROM idempotency_key WHERE client = $1 AND operation = $2 AND key = $3`,
		string(t.Actor), key.Operation, key.Key)
	switch {
	case err != nil:
		return err
	case !found: // it was swept just now
		return ErrRaced
	case was.hash != hash:
		return &store.Error{Code: store.Conflict, Path: []string{"idempotency_key"}, Detail: fmt.Sprintf(
			"was used with another input: %q; take a new key for a new request, or send the first request unchanged", key.Key)}
	}
	if err := replay(was.outcome); err != nil {
		return err
	}
	// Whatever the first use left is no later than what there is now.
	if _, err := Collect(ctx, t.Session, func(rows *sql.Rows) (none struct{}, err error) {
		var topic Topic
		var version int64
		err = rows.Scan(&topic, &version)
		t.Leaves(topic, version)
		return none, err
	}, `SELECT topic, version FROM change`); err != nil {
		return err
	}
	if key.Replayed != nil {
		t.AfterCommit(key.Replayed)
	}
	return nil
}

// SweepIdempotencyKeys deletes the keys that no longer stand for anything, in
// short transactions.
//
// An outdated key is as good as gone before that (once).
func (s *DB) SweepIdempotencyKeys(ctx context.Context) error {
	before, err := s.keysBefore(ctx)
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

// IdempotencyKeysDue counts, up to a number, those that SweepIdempotencyKeys
// deletes.
func (s *DB) IdempotencyKeysDue(ctx context.Context, most int) (int, error) {
	before, err := s.keysBefore(ctx)
	if err != nil {
		return 0, err
	}
	return CountUpTo(ctx, s, most, `idempotency_key WHERE created_at <= $1`, before)
}
