package auth_test

import (
	"context"
	"crypto/ed25519"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
	"portico/store/access"
	"portico/store/storetest/testkit"
)

func TestTokensOfRevokedClientAreRejected(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	elsewhere, other := f.server(t)
	stays, _ := f.newClient(t, access.Scopes())
	implicit := func(client *access.Client) string {
		token, err := f.service.Implicit(t.Context(), client.ID, "")
		require.NoError(t, err)
		return token.AccessToken
	}
	grant, err := f.store.Access.GrantShopperToken(t.Context(), "client:test", access.NewShopperToken{CustomerID: "bob"})
	require.NoError(t, err)
	minted, err := f.service.ShopperToken(t.Context(), f.client.ID, grant)
	require.NoError(t, err)
	tokens := []string{f.token(t).AccessToken, implicit(f.client), minted.AccessToken}
	fresh, good := f.token(t).AccessToken, implicit(stays)
	for _, token := range append(tokens, good) {
		for _, service := range []*auth.Service{f.service, other} {
			_, err := service.Verify(t.Context(), token) // caches the token
			require.NoError(t, err)
		}
	}

	_, err = elsewhere.Access.RevokeClient(t.Context(), "command:test", f.client.ID)
	require.NoError(t, err)
	for _, service := range []*auth.Service{other, f.service} {
		testkit.Eventually(t, true, func() bool {
			_, err := service.Verify(t.Context(), tokens[0])
			return store.HasCode(err, store.Unauthenticated)
		})
		for _, token := range append(tokens, fresh) {
			principal, err := service.Verify(t.Context(), token)
			require.ErrorContains(t, err, "was revoked")
			require.Nil(t, principal)
		}
		_, err = service.Verify(t.Context(), good)
		require.NoError(t, err, "another client's token")
	}
	_, err = f.service.ClientCredentials(t.Context(), f.client.ID, f.secret, "")
	require.True(t, store.HasCode(err, store.Unauthenticated))
	_, err = f.service.Implicit(t.Context(), f.client.ID, "")
	require.ErrorContains(t, err, "was revoked")
	require.True(t, store.HasCode(err, store.Unauthenticated))
}

func TestRevocationIgnoresOIDCClients(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), newIDP(t)
	public1, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	p.publish(public("d", public1))
	service := f.trusting(t, p.URL)
	_, err = f.store.Access.RevokeClient(t.Context(), "command:test", f.client.ID)
	require.NoError(t, err)
	_, err = service.Verify(t.Context(), sign(t, jose.EdDSA, private, "d", p.saying(map[string]any{"azp": f.client.ID})))
	require.NoError(t, err)
}

// kidOf returns the id of the key that signed a token.
func kidOf(t *testing.T, token string) string {
	t.Helper()
	parsed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
	require.NoError(t, err)
	return parsed.Signatures[0].Header.KeyID
}

func TestNewKeyIsPublishedBeforeItSigns(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	elsewhere, other := f.server(t)
	before := f.token(t).AccessToken
	first := f.key(t).ID
	second, err := elsewhere.Access.RotateSigningKey(t.Context(), "command:test", newSealer(t, 1), time.Minute, false)
	require.NoError(t, err)
	for _, service := range []*auth.Service{f.service, other} {
		handler := service.JWKSHandler(writeError)
		testkit.Eventually(t, true, func() bool {
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/.well-known/jwks.json", nil))
			return strings.Contains(w.Body.String(), second) && strings.Contains(w.Body.String(), first)
		}, "every server publishes both")
		token, err := service.Implicit(t.Context(), f.client.ID, "")
		require.NoError(t, err)
		require.Equal(t, first, kidOf(t, token.AccessToken), "the new key's time has not come")
	}
	f.clock.Advance(time.Minute)
	for _, service := range []*auth.Service{f.service, other} {
		token, err := service.Implicit(t.Context(), f.client.ID, "")
		require.NoError(t, err)
		require.Equal(t, second, kidOf(t, token.AccessToken))
		for _, good := range []string{before, token.AccessToken} {
			_, err = other.Verify(t.Context(), good)
			require.NoError(t, err)
		}
	}
}

func TestRotateSigningKeyRevokesTokens(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	before := f.token(t).AccessToken
	_, err := f.service.Verify(t.Context(), before)
	require.NoError(t, err)
	_, err = f.store.Access.RotateSigningKey(t.Context(), "command:test", newSealer(t, 1), 0, true)
	require.NoError(t, err)
	_, err = f.service.Verify(t.Context(), before)
	require.True(t, store.HasCode(err, store.Unauthenticated), "%v", err)
	_, err = f.service.Verify(t.Context(), f.token(t).AccessToken)
	require.NoError(t, err)
}

func TestTokenRequestLimit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	var counted []string
	service, err := auth.New(t.Context(), f.store.Access, newSealer(t, 1),
		auth.Options{Clock: f.clock.Now, Limit: func(_ context.Context, client string) error {
			counted = append(counted, client)
			if len(counted) > 4 {
				return &store.Error{Code: store.RateLimited, Detail: "Too much."}
			}
			return nil
		}})
	require.NoError(t, err)
	f.service = service
	for _, body := range []string{
		"grant_type=client_credentials&client_id=CID&client_secret=SECRET",
		"grant_type=client_credentials&client_id=" + strings.ToUpper(f.client.ID) + "&client_secret=wrong",
		"grant_type=client_credentials&client_id=a/b&client_secret=wrong",
		"grant_type=implicit&client_id=CID",
	} {
		f.askToken(form, body)
	}
	require.Equal(t, []string{f.client.ID, f.client.ID, "", ""}, counted,
		"whose secret was tried, in one spelling; whoever shops counts by address only")
	w := f.askToken(form, "grant_type=client_credentials&client_id=CID&client_secret=SECRET")
	require.Equal(t, http.StatusTooManyRequests, w.Code)
	require.Contains(t, w.Body.String(), "Too much.")
	require.NotContains(t, w.Body.String(), "access_token", "the right secret does not help")
}
