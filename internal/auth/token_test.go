package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/seal"
)

func TestClientCredentials(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	token := f.token(t)
	require.Equal(t, auth.GrantClientCredentials, token.Grant)
	require.Equal(t, time.Hour, token.Lifetime)
	require.Equal(t, start.Truncate(time.Second).Add(time.Hour), token.Expires)

	principal, err := f.service.Verify(t.Context(), token.AccessToken)
	require.NoError(t, err)
	require.Equal(t, &auth.Principal{
		ClientID: f.client.ID, Grant: "client_credentials", Scopes: access.Scopes(), Expires: token.Expires,
	}, principal)

	_, err = f.service.ClientCredentials(t.Context(), f.client.ID, "wrong", "")
	require.True(t, store.HasCode(err, store.Unauthenticated))
}

func TestImplicit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	stockOnly, _ := f.newClient(t, []string{"inventory:write", "inventory:read"})
	neither, _ := f.newClient(t, []string{"settings:read"})
	tests := []struct {
		name   string
		client *access.Client
		scopes []string
	}{
		{"a client that may do all", f.client, []string{"catalog:read", "inventory:read"}},
		{"a client that may read stock", stockOnly, []string{"inventory:read"}},
		{"a client that may read neither", neither, []string{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			token, err := f.service.Implicit(t.Context(), test.client.ID, "")
			require.NoError(t, err)
			principal, err := f.service.Verify(t.Context(), token.AccessToken)
			require.NoError(t, err)
			require.Equal(t, "implicit", principal.Grant)
			require.Equal(t, test.scopes, principal.Scopes)
		})
	}
	_, err := f.service.Implicit(t.Context(), "nobody", "")
	require.True(t, store.HasCode(err, store.Unauthenticated), "got %v", err)
}

func TestShopperToken(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	grant := &access.ShopperTokenContent{ID: "g1", AccountID: "a1", AccountTags: []string{"gold", "vip"}, CustomerID: "u1",
		IssuedAt: start.Truncate(time.Second), Expires: start.Truncate(time.Second).Add(time.Minute)}
	token, err := f.service.ShopperToken(t.Context(), f.client.ID, grant)
	require.NoError(t, err)
	principal, err := f.service.Verify(t.Context(), token.AccessToken)
	require.NoError(t, err)
	require.Equal(t, &auth.Principal{
		ClientID: f.client.ID, Grant: "shopper", Scopes: []string{"catalog:read", "inventory:read"}, Expires: grant.Expires,
		AccountID: "a1", AccountTags: []string{"gold", "vip"}, CustomerID: "u1",
	}, principal)

	f.clock.Advance(30 * time.Second)
	again, err := f.service.ShopperToken(t.Context(), f.client.ID, grant)
	require.NoError(t, err)
	require.Equal(t, token, again, "the same grant is the same token")
}

func TestIssueMaxLifetime(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.service.Issue(t.Context(), auth.Grant{ClientID: "c1", Scopes: []string{strings.Repeat("x", 9000)}})
	require.True(t, store.HasCode(err, store.Unprocessable), "got %v", err)
}

func TestIssueFormat(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	one, two := f.token(t).AccessToken, f.token(t).AccessToken
	header, _, _ := strings.Cut(one, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(header)
	require.NoError(t, err)
	require.JSONEq(t, `{"alg":"EdDSA","typ":"JWT","kid":"`+f.key(t).ID+`"}`, string(decoded))

	said := func(bearer string) (c map[string]any) {
		token, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.EdDSA})
		require.NoError(t, err)
		var set jose.JSONWebKeySet
		require.NoError(t, json.Unmarshal(f.service.JWKS(), &set))
		require.NoError(t, token.Claims(&set, &c), "the published keys must verify it")
		return c
	}
	first, second := said(one), said(two)
	require.NotEqual(t, first["jti"], second["jti"])
	delete(first, "jti")
	require.Equal(t, map[string]any{
		"iss": issuer, "aud": "portico", "sub": f.client.ID, "grant": "client_credentials",
		"iat": float64(start.Unix()), "exp": float64(start.Unix() + 3600), "scope": strings.Join(access.Scopes(), " "),
	}, first)
}

func TestJWKSHasNoPrivateKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	key := f.key(t)
	require.JSONEq(t, `{"keys":[{"kty":"OKP","crv":"Ed25519","alg":"EdDSA","use":"sig","kid":"`+key.ID+
		`","x":"`+base64.RawURLEncoding.EncodeToString(key.Public)+`"}]}`, string(f.service.JWKS()))
}

func TestNewWithAnotherSealingKey(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := auth.New(t.Context(), f.store.Access, newSealer(t, 2), auth.Options{})
	require.ErrorIs(t, err, seal.ErrKey)
}

func TestNewWithoutOptions(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	service, err := auth.New(t.Context(), f.store.Access, newSealer(t, 1), auth.Options{})
	require.NoError(t, err)
	token, err := service.Implicit(t.Context(), f.client.ID, "")
	require.NoError(t, err)
	require.Equal(t, time.Hour, token.Lifetime)
	_, err = service.Verify(t.Context(), token.AccessToken)
	require.NoError(t, err)
}
