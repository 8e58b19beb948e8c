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
	// MaxTokenLifetime is the longest lifetime of a signed token.
	MaxTokenLifetime = 24 * time.Hour

	// MaxKeyDelay is the longest time that a new key is published before it signs.
	MaxKeyDelay = 24 * time.Hour

	// signingKeyKept is how long a replaced key is kept: until its last token has
	// expired, with a margin for clock differences.
	signingKeyKept = MaxTokenLifetime + time.Hour
)

// SigningKeyState describes a signing key without its secret.
type SigningKeyState struct {
	ID        string
	CreatedAt time.Time
	SignsAt   time.Time   // it signs from then on, unless a newer key does
	MadeBy    store.Actor // empty for keys of old versions
	Signs     bool        // it signs now
	KeptUntil time.Time   // when it will be deleted; zero unless replaced
}

// SigningKeyStates lists the signing keys, the newest first. It needs no sealer.
func (s *Service) SigningKeyStates(ctx context.Context) ([]*SigningKeyState, error) {
	keys, err := db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (*SigningKeyState, error) {
		k := &SigningKeyState{}
		var created, signs int64
		err := rows.Scan(&k.ID, &created, &signs, &k.MadeBy)
		k.CreatedAt, k.SignsAt = store.FromMicros(created), store.FromMicros(signs)
		return k, err
	}, `SELECT id, created_at, signs_at, made_by FROM signing_key ORDER BY created_at DESC, id DESC`)
	var replaced time.Time // when the first of the newer keys starts to sign; zero for the newest key
	signing := false       // a newer key signs now
	for _, k := range keys {
		if !replaced.IsZero() && !replaced.After(s.db.Now()) {
			k.KeptUntil = replaced.Add(signingKeyKept)
		}
		k.Signs = !signing && !k.SignsAt.After(s.db.Now())
		signing = signing || k.Signs
		if replaced.IsZero() || k.SignsAt.Before(replaced) {
			replaced = k.SignsAt
		}
	}
	return keys, err
}

// RotateSigningKey creates a key that is published at once and signs after delay, 0 to
// MaxKeyDelay, when every server knows it. Old keys verify until their last token has
// expired; with endTokens they are deleted now, which invalidates every token.
//
// It returns UNPROCESSABLE for an invalid delay, or a delay with endTokens, and seal.ErrKey
// if the sealer lacks the key of a signing key.
func (s *Service) RotateSigningKey(ctx context.Context, actor store.Actor, sealer *seal.Sealer, delay time.Duration, endTokens bool) (id string, err error) {
	if delay < 0 || delay > MaxKeyDelay {
		return "", store.Unprocessablef([]string{"delay"}, "must be between 0s and %s, got %s", MaxKeyDelay, delay)
	}
	if endTokens && delay > 0 {
		return "", store.Unprocessablef([]string{"delay"}, "must be 0s if the tokens of the old keys end at once, got %s", delay)
	}
	if _, err := s.readSigningKeys(ctx, sealer); err != nil {
		return "", err
	}
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		if id, err = s.insertSigningKey(ctx, t, sealer, t.Now.Add(delay)); err != nil || !endTokens {
			return err
		}
		gone, err := db.Collect(ctx, t.Session, db.Scalar[string], `DELETE FROM signing_key WHERE id <> $1 RETURNING id`, id)
		for _, key := range gone {
			t.Record(store.NewAuditEvent(store.AuditSigningKey, key, store.AuditDeleted))
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return id, s.SweepSigningKeys(ctx, actor)
}

// SweepSigningKeys deletes replaced keys whose tokens have all expired.
func (s *Service) SweepSigningKeys(ctx context.Context, actor store.Actor) error {
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
