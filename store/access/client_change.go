package access

import (
	"context"
	"database/sql"
	"time"

	"portico/store"
	"portico/store/authoring"
	"portico/store/db"
)

// MaxSecretGrace is the longest time that a replaced secret stays valid.
const MaxSecretGrace = 30 * 24 * time.Hour

// Clients lists every API client, even revoked ones, by created_at, then id.
func (s *Service) Clients(ctx context.Context) ([]*Client, error) {
	return db.Collect(ctx, s.db.Reader, func(rows *sql.Rows) (*Client, error) {
		row, err := scanClient(rows)
		return row.client, err
	}, s.clientSelect()+` ORDER BY created_at, id`)
}

// RotateClientSecret replaces a client's secret and returns the new one, which is not shown
// again. The previous secret stays valid for grace, 0 to MaxSecretGrace; an older one ends
// at once. It returns NOT_FOUND, or UNPROCESSABLE for a revoked client or an invalid grace.
func (s *Service) RotateClientSecret(ctx context.Context, actor store.Actor, id string, grace time.Duration) (client *Client, secret string, err error) {
	if grace < 0 || grace > MaxSecretGrace {
		return nil, "", store.Unprocessablef([]string{"grace"}, "must be between 0s and %s, got %s", MaxSecretGrace, grace)
	}
	secret = newClientSecret()
	client, err = s.changeClient(ctx, actor, id, func(ctx context.Context, t *db.Tx, id string) (int64, error) {
		return t.Exec(ctx, `
			UPDATE api_client
			SET old_secret_hash = CASE WHEN CAST($3 AS BIGINT) > 0 THEN secret_hash ELSE '' END,
			    old_until = CASE WHEN CAST($3 AS BIGINT) > 0 AND secret_hash <> '' THEN `+s.db.TruncatedClockSQL()+` + $3 ELSE 0 END,
			    secret_hash = $2, rotated_at = $4, changed_by = $5
			WHERE id = $1 AND revoked_at = 0`,
			id, hashSecret(secret), grace.Microseconds(), store.Micros(t.Now), string(t.Actor))
	})
	if err != nil {
		return nil, "", err
	}
	return client, secret, nil
}

// RevokeClient revokes a client: its secrets at once, and the tokens issued to it or minted
// by it within PollEvery on every server. Revoking again changes nothing. It returns
// NOT_FOUND.
func (s *Service) RevokeClient(ctx context.Context, actor store.Actor, id string) (*Client, error) {
	client, err := s.changeClient(ctx, actor, id, func(ctx context.Context, t *db.Tx, id string) (int64, error) {
		return t.Exec(ctx, `
			UPDATE api_client
			SET revoked_at = `+t.LaterSQL(`CAST($2 AS BIGINT)`)+`, changed_by = $3, old_secret_hash = '', old_until = 0
			WHERE id = $1 AND revoked_at = 0`, id, store.Micros(t.Now), string(t.Actor))
	})
	if store.HasCode(err, store.Unprocessable) { // it was revoked before
		return s.Client(ctx, id)
	}
	return client, err
}

// changeClient writes to a client and returns it as it is then. write changes no row of a revoked client, which is
// UNPROCESSABLE; an unknown one is NOT_FOUND.
func (s *Service) changeClient(ctx context.Context, actor store.Actor, id string, write func(ctx context.Context, t *db.Tx, id string) (int64, error)) (client *Client, err error) {
	canonical, _ := store.CanonicalID(id)
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		var n int64
		if err := s.recorded(ctx, t, canonical, func() (err error) {
			n, err = write(ctx, t, canonical)
			return err
		}); err != nil {
			return err
		}
		row, found, err := db.One(ctx, t.Session, scanClient, s.clientSelect()+` WHERE id = $1`, canonical)
		switch {
		case err != nil:
			return err
		case !found:
			return store.NotFoundf(nil, "There is no API client %q.", id)
		case n == 0:
			return store.Unprocessablef(nil, "The API client %q was revoked at %s; create a new one.", id, row.client.RevokedAt.Format(time.RFC3339))
		}
		client = row.client
		return s.db.BumpTopic(ctx, t, db.TopicClients)
	})
	if err != nil {
		return nil, err
	}
	return client, nil
}

// recorded runs a write of a client, and records it in the audit log.
func (s *Service) recorded(ctx context.Context, t *db.Tx, id string, write func() error) error {
	w := &authoring.Writer{Tx: t, DB: s.db}
	return w.Recorded(ctx, ClientKind, id, write)
}

// ClientRevoked reports whether this server knows that a client was revoked; false for an
// unknown id. It reads the database only after clients changed.
func (s *Service) ClientRevoked(ctx context.Context, id string) (bool, error) {
	revoked, err := s.revoked.Get(ctx, s.db, db.TopicClients, func(ctx context.Context) (map[string]bool, error) {
		ids, err := db.Collect(ctx, s.db.Reader, db.Scalar[string], `SELECT id FROM api_client WHERE revoked_at > 0`)
		set := make(map[string]bool, len(ids))
		for _, id := range ids {
			set[id] = true
		}
		return set, err
	})
	return revoked[id], err
}
