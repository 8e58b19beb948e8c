package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"time"
)

// Scopes lists every scope there is (DESIGN 8).
func Scopes() []string {
	return []string{
		"catalog:read", "catalog:write",
		"inventory:read", "inventory:write",
		"promotions:read", "promotions:write",
		"checkout:write",
		"gateways:read", "gateways:write",
		"settings:read", "settings:write",
		"tokens:write",
	}
}

// Client is a program that may ask for tokens. Its secret is kept as a hash
// only.
type Client struct {
	ID        string
	Name      string
	Scopes    []string // in the order of Scopes, each once; at least one
	CreatedAt time.Time
}

// MaxClientName bounds a client's name, in bytes.
const MaxClientName = 255

// clientSecretSize is the length of a secret, in random bytes.
const clientSecretSize = 32

// CreateClient adds a client and returns its secret, which is not shown
// again. Nil scopes mean all there are today.
//
// UNPROCESSABLE names a name that is not 1 to MaxClientName bytes of clean
// text, and each unknown scope; nothing is written then.
func (s *Store) CreateClient(ctx context.Context, actor Actor, name string, scopes []string) (client *Client, secret string, err error) {
	if scopes == nil {
		scopes = Scopes()
	}
	if faults := checkClient(name, scopes); len(faults) > 0 {
		return nil, "", faults
	}
	random := make([]byte, clientSecretSize)
	rand.Read(random) // never fails
	secret = base64.RawURLEncoding.EncodeToString(random)
	client = &Client{ID: newID(), Name: name, Scopes: orderScopes(scopes)}
	err = s.update(ctx, actor, func(ctx context.Context, t *tx) error {
		client.CreatedAt = t.now
		_, err := t.exec(ctx, `
			INSERT INTO api_client (id, name, secret_hash, scopes, created_at)
			VALUES ($1, $2, $3, $4, $5)`,
			client.ID, client.Name, hashSecret(secret), strings.Join(client.Scopes, " "), micros(t.now))
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return client, secret, nil
}

func checkClient(name string, scopes []string) Errors {
	var faults Errors
	switch {
	case len(name) < 1 || len(name) > MaxClientName:
		faults = append(faults, unprocessable([]string{"name"}, "must be between 1 and %d bytes long, not %d", MaxClientName, len(name)))
	case !cleanText(name):
		faults = append(faults, unprocessable([]string{"name"}, "must be valid UTF-8 without NUL"))
	}
	if len(scopes) == 0 {
		faults = append(faults, unprocessable([]string{"scopes"}, "must name at least one scope; leave it out for all"))
	}
	known := Scopes()
	for i, scope := range scopes {
		if !slices.Contains(known, scope) {
			faults = append(faults, unprocessable([]string{"scopes", itoa(i)}, "must be one of %s, not %q", strings.Join(known, ", "), scope))
		}
	}
	return faults
}

// orderScopes brings known scopes into the order of Scopes, each once.
func orderScopes(scopes []string) []string {
	return slices.DeleteFunc(Scopes(), func(scope string) bool { return !slices.Contains(scopes, scope) })
}

// Client returns a client; NOT_FOUND when there is none of that id.
func (s *Store) Client(ctx context.Context, id string) (*Client, error) {
	row, found, err := s.client(ctx, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, notFound(nil, "There is no API client %q.", id)
	}
	return row.client, nil
}

// AuthenticateClient returns the client whose id and secret these are.
// UNAUTHENTICATED, in the same words and the same time, for an unknown id and
// for a wrong secret.
func (s *Store) AuthenticateClient(ctx context.Context, id, secret string) (*Client, error) {
	row, found, err := s.client(ctx, id)
	if err != nil {
		return nil, err
	}
	// An unknown id is compared with a text that is no hash, so with no success.
	expected := strings.Repeat("-", hex.EncodedLen(sha256.Size))
	if found {
		expected = row.secretHash
	}
	if subtle.ConstantTimeCompare([]byte(hashSecret(secret)), []byte(expected)) != 1 {
		return nil, &Error{Code: Unauthenticated, Detail: "The client id or the client secret is wrong."}
	}
	return row.client, nil
}

// hashSecret is how a secret is kept. It is random and long, so a fast hash
// without salt is enough.
func hashSecret(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// clientRow is a client and what only the store knows of it.
type clientRow struct {
	client     *Client
	secretHash string // hex SHA-256
}

func (s *Store) client(ctx context.Context, id string) (row clientRow, found bool, err error) {
	id, ok := CanonicalID(id)
	if !ok {
		return clientRow{}, false, nil
	}
	return one(ctx, s.reader, scanClient,
		`SELECT id, name, secret_hash, scopes, created_at FROM api_client WHERE id = $1`, id)
}

func scanClient(rows *sql.Rows) (clientRow, error) {
	row := clientRow{client: &Client{}}
	var scopes string
	var created int64
	err := rows.Scan(&row.client.ID, &row.client.Name, &row.secretHash, &scopes, &created)
	row.client.Scopes, row.client.CreatedAt = strings.Fields(scopes), fromMicros(created)
	return row, err
}
