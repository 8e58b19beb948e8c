package auth_test

import (
	"bytes"
	"crypto/ed25519"
	"database/sql"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/seal"
	"portico/store/shop"
	"portico/store/storetest/testkit"
)

const issuer = "https://shop.example"

// start is the initial time of each test.
var start = time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC)

// fixture is a service with one client that has all scopes.
type fixture struct {
	path    string // path of the database
	clock   *testkit.Clock
	store   *shop.Store
	service *auth.Service
	client  *access.Client
	secret  string
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{path: filepath.Join(t.TempDir(), "x.db"), clock: testkit.NewClock(start)}
	first, _ := f.server(t) // creates the signing key
	require.NoError(t, first.Close())
	f.store, f.service = f.server(t)
	f.client, f.secret = f.newClient(t, access.Scopes())
	return f
}

// server starts another server on the fixture's database.
func (f *fixture) server(t *testing.T) (*shop.Store, *auth.Service) {
	t.Helper()
	s, err := shop.Open(t.Context(), shop.Config{URL: "file:" + f.path, Clock: f.clock.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	service, err := auth.New(t.Context(), s.Access, newSealer(t, 1), auth.Options{Issuer: issuer, Clock: f.clock.Now})
	require.NoError(t, err)
	return s, service
}

func (f *fixture) newClient(t *testing.T, scopes []string) (*access.Client, string) {
	t.Helper()
	client, secret, err := f.store.Access.CreateClient(t.Context(), "command:test", "test", scopes)
	require.NoError(t, err)
	return client, secret
}

// token returns a token of the fixture's client.
func (f *fixture) token(t *testing.T) *auth.Token {
	t.Helper()
	token, err := f.service.ClientCredentials(t.Context(), f.client.ID, f.secret, "")
	require.NoError(t, err)
	return token
}

// key returns the current signing key.
func (f *fixture) key(t *testing.T) *access.SigningKey {
	t.Helper()
	keys, err := f.store.Access.SigningKeys(t.Context(), newSealer(t, 1))
	require.NoError(t, err)
	return keys[0]
}

// addKey adds a signing key without notifying servers.
func (f *fixture) addKey(t *testing.T, id string) ed25519.PrivateKey {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	f.exec(t, `INSERT INTO signing_key (id, public, sealed, created_at) VALUES ($1, $2, $3, $4)`,
		id, []byte(public), newSealer(t, 1).Seal("signing_key/"+id, private.Seed()), f.clock.Now().UnixMicro())
	return private
}

// exec writes to the database directly, like another process.
func (f *fixture) exec(t *testing.T, query string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+f.path+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	_, err = db.Exec(query, args...)
	require.NoError(t, err)
}

func newSealer(t *testing.T, fill byte) *seal.Sealer {
	t.Helper()
	sealer, err := seal.New(bytes.Repeat([]byte{fill}, seal.KeySize))
	require.NoError(t, err)
	return sealer
}

// say returns the claims of a valid token with changes; nil removes a claim.
func say(changes map[string]any) map[string]any {
	said := map[string]any{
		"iss": issuer, "aud": "portico", "sub": "c1", "iat": start.Unix(), "exp": start.Unix() + 3600,
		"jti": "1", "scope": "catalog:read", "grant": "implicit",
	}
	maps.Copy(said, changes)
	maps.DeleteFunc(said, func(_ string, value any) bool { return value == nil })
	return said
}

// sign signs a token.
func sign(t *testing.T, algorithm jose.SignatureAlgorithm, key any, kid string, said map[string]any) string {
	t.Helper()
	options := &jose.SignerOptions{}
	if kid != "" {
		options = options.WithHeader("kid", kid)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	require.NoError(t, err)
	payload, err := json.Marshal(said)
	require.NoError(t, err)
	signed, err := signer.Sign(payload)
	require.NoError(t, err)
	token, err := signed.CompactSerialize()
	require.NoError(t, err)
	return token
}

// writeError writes an error like rest does, but shorter.
func writeError(w http.ResponseWriter, _ *http.Request, err error) {
	fault := store.AsErrors(err)[0]
	status := map[store.Code]int{
		store.Invalid: http.StatusBadRequest, store.Unauthenticated: http.StatusUnauthorized, store.Forbidden: http.StatusForbidden,
		store.RateLimited: http.StatusTooManyRequests,
	}[fault.Code]
	if special := new(auth.StatusError); errors.As(err, &special) {
		status = special.Status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []any{
		map[string]any{"status": status, "title": http.StatusText(status), "detail": fault.Error()},
	}})
}
