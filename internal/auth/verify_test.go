package auth_test

import (
	"crypto/ed25519"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"portico/store"
)

func TestVerifyRejects(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	key := f.key(t)
	_, stranger, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	good := f.token(t).AccessToken
	parts := strings.Split(good, ".")
	signed := func(changes map[string]any) string { return sign(t, jose.EdDSA, key.Private, key.ID, say(changes)) }
	encode := base64.RawURLEncoding.EncodeToString
	now := start.Unix()

	tests := []struct{ name, bearer, want string }{
		{"nothing", "", "malformed"},
		{"garbage", "garbage", "malformed"},
		{"garbage in three parts", "a.b.c", "malformed"},
		{"truncated in the signature", good[:len(good)-20], "signature is invalid"},
		{"truncated in the claims", parts[0] + "." + parts[1][:40], "malformed"},
		{"without a signature", parts[0] + "." + parts[1] + ".", "signature is invalid"},
		{"with more behind", good + ".x", "malformed"},
		{"in quotes", `"` + good + `"`, "malformed"},
		{"too long", strings.Repeat("a", 9000), "malformed"},
		{"changed claims", parts[0] + "." + encode([]byte(`{"scope":"settings:write"}`)) + "." + parts[2], "signature is invalid"},
		{"alg none", encode([]byte(`{"alg":"none","kid":"`+key.ID+`"}`)) + "." + parts[1] + ".", "not signed with EdDSA"},
		{"HS256 with the public key", sign(t, jose.HS256, []byte(key.Public), key.ID, say(nil)), "not signed with EdDSA"},
		{"another key under our kid", sign(t, jose.EdDSA, stranger, key.ID, say(nil)), "signature is invalid"},
		{"an unknown kid", sign(t, jose.EdDSA, stranger, "stranger", say(nil)), "an unknown key"},
		{"no kid", sign(t, jose.EdDSA, key.Private, "", say(nil)), "an unknown key"},
		{"another audience", signed(map[string]any{"aud": "elsewhere"}), `audience of the token must be "portico"`},
		{"no audience", signed(map[string]any{"aud": nil}), `audience of the token must be "portico"`},
		{"issuer of the token must be", signed(map[string]any{"iss": "https://evil.example"}),
			`issuer of the token must be "https://shop.example"`},
		{"no issuer", signed(map[string]any{"iss": nil}), "issuer of the token must be"},
		{"expired", signed(map[string]any{"iat": now - 7200, "exp": now - 3600}), "expired at 2026-03-04T04:06:07Z. Get a new token"},
		{"expired longer than the skew", signed(map[string]any{"exp": now - 61}), "expired at"},
		{"no expiry", signed(map[string]any{"exp": nil}), "malformed"},
		{"no subject", signed(map[string]any{"sub": nil}), "malformed"},
		{"an expiry that is no number", signed(map[string]any{"exp": "tomorrow"}), "malformed"},
		{"later than allowed expires", signed(map[string]any{"exp": now + 25*3600 + 1}), "later than allowed"},
		{"not valid yet", signed(map[string]any{"nbf": now + 3600}), "not valid yet"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			principal, err := f.service.Verify(t.Context(), test.bearer)
			require.ErrorContains(t, err, test.want)
			require.True(t, store.HasCode(err, store.Unauthenticated))
			require.Nil(t, principal)
		})
	}
}

func TestVerifyAccepts(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	key := f.key(t)
	tests := []struct {
		name    string
		changes map[string]any
	}{
		{"as issued", nil},
		{"expired within the skew", map[string]any{"exp": start.Unix() - 59}},
		{"issued by a clock that is ahead", map[string]any{"iat": start.Unix() + 3600, "exp": start.Unix() + 7200}},
		{"issued for as long as can be by a clock that is ahead", map[string]any{"iat": start.Unix() + 3600, "exp": start.Unix() + 25*3600}},
		{"good from soon on", map[string]any{"nbf": start.Unix() + 59}},
		{"one audience of several", map[string]any{"aud": []string{"elsewhere", "portico"}}},
		{"members we do not know", map[string]any{"extra": map[string]any{"a": 1}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			principal, err := f.service.Verify(t.Context(), sign(t, jose.EdDSA, key.Private, key.ID, say(test.changes)))
			require.NoError(t, err)
			require.Equal(t, "c1", principal.ClientID)
		})
	}
}

func TestVerifyCachesUntilExpiry(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(t)
	first, err := f.service.Verify(t.Context(), token.AccessToken)
	require.NoError(t, err)

	f.clock.Set(token.Expires.Add(-time.Millisecond))
	again, err := f.service.Verify(t.Context(), token.AccessToken)
	require.NoError(t, err)
	require.Same(t, first, again, "a good token is verified once")

	f.clock.Set(token.Expires)
	skewed, err := f.service.Verify(t.Context(), token.AccessToken)
	require.NoError(t, err)
	require.NotSame(t, first, skewed, "at its expiry a token must be forgotten")

	f.clock.Set(token.Expires.Add(time.Minute + time.Second))
	_, err = f.service.Verify(t.Context(), token.AccessToken)
	require.ErrorContains(t, err, "expired at")
}

func TestVerifyReadsNoDatabase(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(t).AccessToken
	_, err := f.service.Verify(t.Context(), f.token(t).AccessToken) // reads the revoked clients, since a client was created
	require.NoError(t, err)
	ctx, counter := store.CountStatements(t.Context())
	_, err = f.service.Verify(ctx, token)
	require.NoError(t, err)
	require.Zero(t, counter.Count(), counter.Queries())
}
