package access

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/seal"
)

const (
	// MaxTokenLifetime bounds any token that is signed with the keys.
	MaxTokenLifetime = 24 * time.Hour

	// MaxKeyDelay bounds how long a new key is published before it signs.
	MaxKeyDelay = 24 * time.Hour

	// signingKeyKept is how long a key that no longer signs is kept: until its
	// last token has expired, and some time for clocks that differ.
	signingKeyKept = MaxTokenLifetime + time.Hour
)

// SigningKeyState is what may be told about a signing key.
type SigningKeyState struct {
	ID        string
	CreatedAt time.Time
	SignsAt   time.Time   // from then on it signs, unless a newer one does
	MadeBy    store.Actor // empty for a key from before this was kept
	Signs     bool        // now
	KeptUntil time.Time   // when it goes, having been replaced; zero for one that signs, or will
}

// SigningKeyStates lists the signing keys, the newest first. It needs no
// sealer.
func (s *AccessService) SigningKeyStates(ctx context.Context) ([]*SigningKeyState, error) {
	keys, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (*SigningKeyState, error) {
		k := &SigningKeyState{}
		var created, signs int64
		err := rows.Scan(&k.ID, &created, &signs, &k.MadeBy)
		k.CreatedAt, k.SignsAt = store.FromMicros(created), store.FromMicros(signs)
		return k, err
	}, `SELECT id, created_at, signs_at, made_by FROM signing_key ORDER BY created_at DESC, id DESC`)
	var replaced time.Time // when a newer key began to sign, or will
	signing := false
	for _, k := range keys {
		if !replaced.IsZero() && !replaced.After(s.db.Now()) {
			k.KeptUntil = replaced.Add(signingKeyKept)
		}
		if k.Signs = !signing && !k.SignsAt.After(s.db.Now()); k.Signs {
			signing = true
		}
		if replaced.IsZero() || k.SignsAt.Before(replaced) {
			replaced = k.SignsAt
		}
	}
	return keys, err
}

// RotateSigningKey makes a new key. It is published at once and signs after
// the delay, 0 to MaxKeyDelay, by when every server has it. The old keys go on
// verifying, and are dropped once their last token has expired; with endTokens
// they are dropped here, and every token issued so far ends.
//
// UNPROCESSABLE for a delay out of bounds, or any together with endTokens;
// seal.ErrKey when the sealer is not the one that sealed the other keys.
func (s *AccessService) RotateSigningKey(ctx context.Context, actor store.Actor, sealer *seal.Sealer, delay time.Duration, endTokens bool) (id string, err error) {
	if delay < 0 || delay > MaxKeyDelay {
		return "", store.Unprocessablef([]string{"delay"}, "must be between 0s and %s, not %s", MaxKeyDelay, delay)
	}
	if endTokens && delay > 0 {
		return "", store.Unprocessablef([]string{"delay"}, "must be 0s where the tokens of the old keys end at once, not %s", delay)
	}
	if _, err := s.readSigningKeys(ctx, sealer); err != nil {
		return "", err
	}
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		if id, err = s.insertSigningKey(ctx, t, sealer, t.Now.Add(delay)); err != nil || !endTokens {
			return err
		}
		_, err := t.Exec(ctx, `DELETE FROM signing_key WHERE id <> $1`, id)
		return err
	})
	if err != nil {
		return "", err
	}
	return id, SweepSigningKeys(ctx, s, actor)
}

// SweepSigningKeys drops the keys whose tokens have all expired: those that a
// newer one, which was made long ago, replaced long ago.
func SweepSigningKeys(ctx context.Context, s *AccessService, actor store.Actor) error {
	return s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		now, err := t.SafeNow(ctx)
		if err != nil {
			return err
		}
		n, err := t.Exec(ctx, `
			DELETE FROM signing_key
			WHERE EXISTS (
			    SELECT 1 FROM signing_key AS newer
			    WHERE (newer.created_at, newer.id) > (signing_key.created_at, signing_key.id)
			      AND newer.created_at <= $1 AND newer.signs_at <= $1)`, store.Micros(now.Add(-signingKeyKept)))
		if err != nil || n == 0 {
			return err
		}
		db.AddSwept(ctx, n)
		return s.db.BumpTopic(ctx, t, db.TopicKeys)
	})
}
