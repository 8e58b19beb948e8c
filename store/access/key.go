package access

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"database/sql"
	"fmt"
	"time"

	"portico/store"
	"portico/store/db"
	"portico/store/seal"
)

// SigningKey signs tokens. All servers of a database share the keys; their private halves
// are stored sealed.
type SigningKey struct {
	ID        string // the kid of tokens
	Public    ed25519.PublicKey
	Private   ed25519.PrivateKey
	CreatedAt time.Time
	SignsAt   time.Time // until then it is only published
}

// String names the key without its secret.
func (k *SigningKey) String() string { return "signing key " + k.ID }

// KeyActor is the actor that creates the first signing key and deletes expired ones.
const KeyActor store.Actor = "system:signing-key"

// SigningKeys returns every signing key, the newest first, and creates one if there is
// none. The first whose SignsAt has passed signs; all verify. Servers that start at the same
// time on PostgreSQL may create one each. The error is seal.ErrKey if the sealer lacks the
// key of a signing key.
func (s *Service) SigningKeys(ctx context.Context, sealer *seal.Sealer) ([]*SigningKey, error) {
	keys, err := s.readSigningKeys(ctx, sealer)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	if err := s.createFirstSigningKey(ctx, sealer); err != nil {
		return nil, err
	}
	return s.readSigningKeys(ctx, sealer)
}

// SigningKeysVersion changes when this server sees a change of the keys, within PollEvery.
// It does not query the database.
func (s *Service) SigningKeysVersion() int64 { return s.db.TopicVersion(db.TopicKeys) }

// TokensVersion changes when this server sees a change of keys or clients, within
// PollEvery, after which a valid token may be invalid. It does not query the database.
func (s *Service) TokensVersion() int64 {
	return s.SigningKeysVersion() + s.db.TopicVersion(db.TopicClients)
}

// createFirstSigningKey creates a key unless there is one.
func (s *Service) createFirstSigningKey(ctx context.Context, sealer *seal.Sealer) error {
	return s.db.Update(ctx, KeyActor, func(ctx context.Context, t *db.Tx) error {
		_, found, err := db.One(ctx, t.Session, db.Scalar[string], `SELECT id FROM signing_key LIMIT 1`)
		if err != nil || found {
			return err
		}
		_, err = s.insertSigningKey(ctx, t, sealer, t.Now)
		return err
	})
}

// insertSigningKey creates a key that signs from a time on. Its creation time is a millisecond or more
// after that of all other keys, because the newest one signs. It counts by the later of both
// clocks, because older keys expire from then on.
func (s *Service) insertSigningKey(ctx context.Context, t *db.Tx, sealer *seal.Sealer, signs time.Time) (id string, err error) {
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	sealing, err := db.CurrentKey(ctx, t, sealer)
	if err != nil {
		return "", err
	}
	newest, _, err := db.One(ctx, t.Session, db.Scalar[int64], `SELECT COALESCE(MAX(created_at), 0) FROM signing_key`)
	if err != nil {
		return "", err
	}
	id = store.NewID()
	if _, err := t.Exec(ctx, `
		INSERT INTO signing_key (id, public, sealed, created_at, signs_at, made_by)
		VALUES ($1, $2, $3, `+t.LaterSQL(`CAST($4 AS BIGINT)`)+`, $5, $6)`,
		id, []byte(public), sealing.Seal(SigningKeyField(id), private.Seed()), max(store.Micros(t.Now), newest+1000), store.Micros(signs), string(t.Actor)); err != nil {
		return "", err
	}
	t.Record(store.NewAuditEvent(store.AuditSigningKey, id, store.AuditCreated))
	return id, s.db.BumpTopic(ctx, t, db.TopicKeys)
}

// SigningKeyField names a key's private half for the sealer.
func SigningKeyField(id string) string { return "signing_key/" + id }

func (s *Service) readSigningKeys(ctx context.Context, sealer *seal.Sealer) ([]*SigningKey, error) {
	return db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (*SigningKey, error) {
		return scanSigningKey(rows, sealer)
	}, `SELECT id, public, sealed, created_at, signs_at FROM signing_key ORDER BY created_at DESC, id DESC`)
}

// scanSigningKey opens the private half, and checks that the public one belongs to it.
func scanSigningKey(rows *sql.Rows, sealer *seal.Sealer) (*SigningKey, error) {
	key := &SigningKey{}
	var public, sealed []byte
	var created, signs int64
	if err := rows.Scan(&key.ID, &public, &sealed, &created, &signs); err != nil {
		return nil, err
	}
	seed, err := sealer.Open(SigningKeyField(key.ID), sealed)
	if err != nil {
		return nil, err
	}
	if len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s is %d bytes long, expected %d", key, len(seed), ed25519.SeedSize)
	}
	key.Private, key.CreatedAt, key.SignsAt = ed25519.NewKeyFromSeed(seed), store.FromMicros(created), store.FromMicros(signs)
	key.Public = key.Private.Public().(ed25519.PublicKey)
	if !key.Public.Equal(ed25519.PublicKey(public)) {
		return nil, fmt.Errorf("the public and private halves of %s do not match", key)
	}
	return key, nil
}
