package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"

	"portico/store"
	"portico/store/db"
)

// Scopes lists every scope.
func Scopes() []string {
	return []string{
		"catalog:read", "catalog:write",
		"inventory:read", "inventory:write",
		"promotions:read", "promotions:write",
		"checkout:write",
		"gateways:read", "gateways:write",
		"settings:read", "settings:write",
		"tokens:write",
		"audit:read",
	}
}

// Client is an API client, which may request tokens. Only a hash of its secret is stored. This file
// creates, reads and authenticates clients; client_change.go lists, rotates and revokes them.
type Client struct {
	ID        string
	Name      string
	Scopes    []string // distinct, in the order of Scopes; at least one
	CreatedAt time.Time

	RotatedAt      time.Time   // last rotation of the secret; zero for never
	OldSecretUntil time.Time   // end of the previous secret by the database's clock; zero if none is valid
	RevokedAt      time.Time   // zero while active
	ChangedBy      store.Actor // last writer
}

// MaxClientName is the longest client name in bytes.
const MaxClientName = 255

// clientSecretSize is the length of a secret in random bytes.
const clientSecretSize = 32

// CreateClient creates a client and returns its secret, which is not shown again. It
// returns UNPROCESSABLE for a name that is not 1 to MaxClientName bytes of valid text, an
// empty list of scopes, and each unknown scope.
func (s *Service) CreateClient(ctx context.Context, actor store.Actor, name string, scopes []string) (client *Client, secret string, err error) {
	if faults := checkClient(name, scopes); len(faults) > 0 {
		return nil, "", faults
	}
	secret = newClientSecret()
	client = &Client{ID: store.NewID(), Name: name, Scopes: orderScopes(scopes), ChangedBy: actor}
	err = s.db.Update(ctx, actor, func(ctx context.Context, t *db.Tx) error {
		client.CreatedAt = t.Now
		if err := s.recorded(ctx, t, client.ID, func() error {
			_, err := t.Exec(ctx, `
				INSERT INTO api_client (id, name, secret_hash, scopes, created_at, changed_by)
				VALUES ($1, $2, $3, $4, $5, $6)`,
				client.ID, client.Name, hashSecret(secret), strings.Join(client.Scopes, " "), store.Micros(t.Now), string(t.Actor))
			return err
		}); err != nil {
			return err
		}
		return s.db.BumpTopic(ctx, t, db.TopicClients)
	})
	if err != nil {
		return nil, "", err
	}
	return client, secret, nil
}

func newClientSecret() string {
	random := make([]byte, clientSecretSize)
	rand.Read(random) // never fails
	return base64.RawURLEncoding.EncodeToString(random)
}

// checkClient returns the errors of CreateClient.
func checkClient(name string, scopes []string) store.Errors {
	var faults store.Errors
	switch {
	case len(name) < 1 || len(name) > MaxClientName:
		faults = append(faults, store.Unprocessablef([]string{"name"}, "must be between 1 and %d bytes long, got %d", MaxClientName, len(name)))
	case !store.IsStorableText(name):
		faults = append(faults, store.Unprocessablef([]string{"name"}, "must be valid UTF-8 without NUL"))
	}
	if len(scopes) == 0 {
		faults = append(faults, store.Unprocessablef([]string{"scopes"}, "must name at least one of %s", strings.Join(Scopes(), ", ")))
	}
	known := Scopes()
	for i, scope := range scopes {
		if !slices.Contains(known, scope) {
			faults = append(faults, store.Unprocessablef([]string{"scopes", strconv.Itoa(i)}, "must be one of %s, got %q", strings.Join(known, ", "), scope))
		}
	}
	return faults
}

// orderScopes returns distinct scopes in the order of Scopes.
func orderScopes(scopes []string) []string {
	return slices.DeleteFunc(Scopes(), func(scope string) bool { return !slices.Contains(scopes, scope) })
}

// Client returns a client, or NOT_FOUND.
func (s *Service) Client(ctx context.Context, id string) (*Client, error) {
	row, found, err := s.client(ctx, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, store.NotFoundf(nil, "There is no API client %q.", id)
	}
	return row.client, nil
}

// AuthenticateClient returns the client with this id and secret. A rotated secret works
// until its end. It returns the same UNAUTHENTICATED error, in the same time, for an unknown
// id and a wrong secret. A correct secret of a revoked client gets its own message.
func (s *Service) AuthenticateClient(ctx context.Context, id, secret string) (*Client, error) {
	row, found, err := s.client(ctx, id)
	if err != nil {
		return nil, err
	}
	// A missing secret is compared with a text that is not a hash, so it never matches.
	none := strings.Repeat("-", hex.EncodedLen(sha256.Size))
	current, old := none, none
	if found {
		current = row.secretHash
		if !row.client.OldSecretUntil.IsZero() {
			old = row.oldSecretHash
		}
	}
	hash := []byte(hashSecret(secret))
	if subtle.ConstantTimeCompare(hash, []byte(current))|subtle.ConstantTimeCompare(hash, []byte(old)) != 1 {
		return nil, &store.Error{Code: store.Unauthenticated, Detail: "The client id or the client secret is wrong."}
	}
	if !row.client.RevokedAt.IsZero() {
		return nil, &store.Error{Code: store.Unauthenticated, Detail: "The API client was revoked; its secrets and tokens are no longer valid."}
	}
	return row.client, nil
}

// hashSecret is the stored form of a secret. Secrets are long and random, so a fast hash
// without salt suffices.
func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// clientRow is a client with the hashes of its secrets.
type clientRow struct {
	client                    *Client
	secretHash, oldSecretHash string // hex SHA-256
}

// clientSelect begins a query for clients; old_until is 0 once it has passed.
func (s *Service) clientSelect() string {
	return `
		SELECT id, name, secret_hash, old_secret_hash, scopes, created_at, rotated_at,
		       CASE WHEN old_until > ` + s.db.TruncatedClockSQL() + ` THEN old_until ELSE 0 END, revoked_at, changed_by
		FROM api_client`
}

// client reads a client by its id; found is false for an unknown or malformed one.
func (s *Service) client(ctx context.Context, id string) (row clientRow, found bool, err error) {
	id, ok := store.CanonicalID(id)
	if !ok {
		return clientRow{}, false, nil
	}
	return db.One(ctx, s.db.Reader, scanClient, s.clientSelect()+` WHERE id = $1`, id)
}

func scanClient(rows *sql.Rows) (clientRow, error) {
	c := &Client{}
	row := clientRow{client: c}
	var scopes string
	var created, rotated, until, revoked int64
	err := rows.Scan(&c.ID, &c.Name, &row.secretHash, &row.oldSecretHash, &scopes, &created, &rotated, &until, &revoked, &c.ChangedBy)
	c.Scopes, c.CreatedAt = strings.Fields(scopes), store.FromMicros(created)
	c.RotatedAt, c.OldSecretUntil, c.RevokedAt = store.OptionalMicros(rotated), store.OptionalMicros(until), store.OptionalMicros(revoked)
	return row, err
}
