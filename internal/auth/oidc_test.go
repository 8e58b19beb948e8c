package auth_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store"
)

// idp is a small OpenID Connect issuer.
type idp struct {
	*httptest.Server
	mu       sync.Mutex
	away     bool
	asked    map[string]int
	keys     []jose.JSONWebKey
	named    string // issuer in the discovery document; the address if empty
	keysText string // replaces the keys

	arrived chan struct{} // receives one for each request that hangs
	hanging chan struct{} // requests hang until it closes; nil while none does
}

func newIDP(t *testing.T) *idp {
	t.Helper()
	p := &idp{asked: map[string]int{}, arrived: make(chan struct{}, 100)}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		hanging := p.hanging
		p.mu.Unlock()
		if hanging != nil {
			p.arrived <- struct{}{}
			<-hanging
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.asked[r.URL.Path]++
		switch {
		case p.away:
			w.WriteHeader(http.StatusBadGateway)
		case r.URL.Path == "/.well-known/openid-configuration":
			named := p.named
			if named == "" {
				named = p.URL
			}
			_ = json.NewEncoder(w).Encode(map[string]any{"issuer": named, "jwks_uri": p.URL + "/keys",
				"id_token_signing_alg_values_supported": []string{"HS256", "none", "RS256"}})
		case p.keysText != "":
			_, _ = w.Write([]byte(p.keysText))
		default:
			_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: p.keys})
		}
	}))
	t.Cleanup(p.Close)
	return p
}

// publish replaces the issuer's keys.
func (p *idp) publish(keys ...jose.JSONWebKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = keys
}

func (p *idp) leave(away bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.away = away
}

// hang makes the issuer accept requests but answer none until release.
func (p *idp) hang(t *testing.T) (release func()) {
	t.Helper()
	hanging := make(chan struct{})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hanging = hanging
	release = sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.hanging = nil
		close(hanging)
	})
	t.Cleanup(release)
	return release
}

func (p *idp) count(path string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.asked[path]
}

// trusting returns a service that accepts tokens of an issuer.
func (f *fixture) trusting(t *testing.T, url string) *auth.Service {
	t.Helper()
	service, err := auth.New(t.Context(), f.store.Access, newSealer(t, 1), auth.Options{
		Issuer: issuer, Clock: f.clock.Now, OIDC: &auth.OIDCIssuer{URL: url, Audience: "shop-api"},
	})
	require.NoError(t, err)
	return service
}

func public(kid string, key any) jose.JSONWebKey {
	return jose.JSONWebKey{Key: key, KeyID: kid, Use: "sig"}
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	return key
}

// saying returns the claims of a valid token of the issuer with changes; nil removes a claim.
func (p *idp) saying(changes map[string]any) map[string]any {
	said := say(map[string]any{"iss": p.URL, "aud": "shop-api", "sub": "user-1", "scope": "openid catalog:read", "grant": nil})
	maps.Copy(said, changes)
	maps.DeleteFunc(said, func(_ string, value any) bool { return value == nil })
	return said
}

func TestOIDC(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), newIDP(t)
	key := rsaKey(t)
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	edPublic, ed, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	p.publish(public("r", key.Public()), public("e", curve.Public()), public("d", edPublic))
	service := f.trusting(t, p.URL)
	require.Zero(t, p.count("/keys"), "the issuer is asked when its first token comes")

	for _, test := range []struct {
		name    string
		sign    jose.SignatureAlgorithm
		key     any
		kid     string
		changes map[string]any
		want    auth.Principal // without the expiry
	}{
		{"RS256", jose.RS256, key, "r", nil, auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"PS512", jose.PS512, key, "r", nil, auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"ES256", jose.ES256, curve, "e", nil, auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"EdDSA", jose.EdDSA, ed, "d", nil, auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"no kid", jose.ES256, curve, "", nil, auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"several audiences", jose.RS256, key, "r", map[string]any{"aud": []string{"other", "shop-api"}},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"a person of an app", jose.RS256, key, "r", map[string]any{"azp": "app", "client_id": "app-2"},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"another person of that app", jose.RS256, key, "r", map[string]any{"sub": "user-2", "azp": "app", "client_id": "app-2"},
			auth.Principal{ClientID: "oidc:user-2", Scopes: []string{"catalog:read"}}},
		{"azp", jose.RS256, key, "r", map[string]any{"sub": nil, "azp": "app", "client_id": "app-2"},
			auth.Principal{ClientID: "oidc:app", Scopes: []string{"catalog:read"}}},
		{"client_id", jose.RS256, key, "r", map[string]any{"sub": nil, "client_id": f.client.ID},
			auth.Principal{ClientID: "oidc:" + f.client.ID, Scopes: []string{"catalog:read"}}},
		{"scp as text", jose.RS256, key, "r", map[string]any{"scope": nil, "scp": "settings:read inventory:read"},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"inventory:read", "settings:read"}}},
		{"scp as list, beside scope", jose.RS256, key, "r", map[string]any{"scp": []string{"inventory:read", "everything"}},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read", "inventory:read"}}},
		{"no scope of ours", jose.RS256, key, "r", map[string]any{"scope": "openid profile catalog:readall"},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{}}},
		{"a shopper", jose.RS256, key, "r", map[string]any{"account_id": "acme", "account_tags": []string{"gold", "vip"}, "customer_id": "bob"},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}, AccountID: "acme", AccountTags: []string{"gold", "vip"},
				CustomerID: "bob"}},
		{"a little past its expiry", jose.RS256, key, "r", map[string]any{"exp": start.Unix() - 59},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
		{"from a clock that is ahead", jose.RS256, key, "r", map[string]any{"iat": start.Unix() + 59, "nbf": start.Unix() + 59},
			auth.Principal{ClientID: "oidc:user-1", Scopes: []string{"catalog:read"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			said := p.saying(test.changes)
			principal, err := service.Verify(t.Context(), sign(t, test.sign, test.key, test.kid, said))
			require.NoError(t, err)
			test.want.Grant = "oidc"
			switch at := said["exp"].(type) {
			case int64:
				test.want.Expires = time.Unix(at, 0).UTC()
			case int:
				test.want.Expires = time.Unix(int64(at), 0).UTC()
			}
			require.Equal(t, &test.want, principal)
		})
	}
	_, err = service.Verify(t.Context(), f.token(t).AccessToken)
	require.NoError(t, err, "our own tokens are good beside")
	require.Equal(t, []int{1, 1}, []int{p.count("/.well-known/openid-configuration"), p.count("/keys")}, "the keys are read once")
}

func TestOIDCRejectsTokens(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), newIDP(t)
	key, stranger := rsaKey(t), rsaKey(t)
	p.publish(public("r", key.Public()))
	service := f.trusting(t, p.URL)
	encode := base64.RawURLEncoding.EncodeToString
	good := sign(t, jose.RS256, key, "r", p.saying(nil))
	parts := strings.Split(good, ".")
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	require.NoError(t, err)
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	signed := func(changes map[string]any) string { return sign(t, jose.RS256, key, "r", p.saying(changes)) }

	for _, test := range []struct{ name, bearer, want string }{
		{"another audience", signed(map[string]any{"aud": "other"}), `is meant for another audience than "shop-api"`},
		{"our own audience", signed(map[string]any{"aud": "portico"}), `another audience than "shop-api"`},
		{"no audience", signed(map[string]any{"aud": nil}), "another audience"},
		{"expired", signed(map[string]any{"exp": start.Unix() - 61}), "expired at 2026-03-04T05:05:06Z. Get a new one there"},
		{"no expiry", signed(map[string]any{"exp": nil}), "is malformed"},
		{"not valid yet", signed(map[string]any{"nbf": start.Unix() + 120}), "is not valid yet"},
		{"another key", sign(t, jose.RS256, stranger, "r", p.saying(nil)), "has a wrong signature"},
		{"another key without a kid", sign(t, jose.RS256, stranger, "", p.saying(nil)), "has a wrong signature"},
		{"an unknown kid", sign(t, jose.RS256, stranger, "x", p.saying(nil)), "a key that the issuer does not publish"},
		{"our own key", sign(t, jose.EdDSA, f.key(t).Private, f.key(t).ID, p.saying(nil)), "a key that the issuer does not publish"},
		{"HS256 with the public key", sign(t, jose.HS256, asPEM, "r", p.saying(nil)), "not signed with an asymmetric algorithm"},
		{"HS256 with the public key as DER", sign(t, jose.HS256, der, "r", p.saying(nil)), "not signed with an asymmetric algorithm"},
		{"alg none", encode([]byte(`{"alg":"none"}`)) + "." + parts[1] + ".", "not signed with an asymmetric algorithm"},
		{"alg none with a kid", encode([]byte(`{"alg":"none","kid":"r"}`)) + "." + parts[1] + "." + parts[2],
			"not signed with an asymmetric algorithm"},
		{"changed claims", parts[0] + "." + encode([]byte(`{"iss":"`+p.URL+`","sub":"root"}`)) + "." + parts[2], "has a wrong signature"},
		{"without a signature", parts[0] + "." + parts[1] + ".", "has a wrong signature"},
		{"a client of no name", signed(map[string]any{"sub": nil}), "names nobody"},
		{"a client of too long a name", signed(map[string]any{"sub": strings.Repeat("x", 256)}), "names nobody"},
		{"a client with a line break", signed(map[string]any{"sub": "a\nb"}), "names nobody"},
		{"the issuer with a slash", signed(map[string]any{"iss": p.URL + "/"}), "not signed with EdDSA"},
		{"an issuer that nobody trusts", signed(map[string]any{"iss": "https://evil.example"}), "not signed with EdDSA"},
		{"our issuer, by their key", signed(map[string]any{"iss": issuer}), "not signed with EdDSA"},
	} {
		t.Run(test.name, func(t *testing.T) {
			principal, err := service.Verify(t.Context(), test.bearer)
			require.ErrorContains(t, err, test.want)
			require.True(t, store.HasCode(err, store.Unauthenticated))
			require.Nil(t, principal)
		})
	}
	_, err = service.Verify(t.Context(), good)
	require.NoError(t, err)
	_, err = f.service.Verify(t.Context(), good)
	require.Error(t, err, "a server that trusts no one else")
}

func TestOIDCKeyRotation(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), newIDP(t)
	first, second := rsaKey(t), rsaKey(t)
	p.publish(public("1", first.Public()))
	service := f.trusting(t, p.URL)
	by := func(key any, kid string) error {
		_, err := service.Verify(t.Context(), sign(t, jose.RS256, key, kid, p.saying(nil)))
		return err
	}
	require.NoError(t, by(first, "1"))

	p.publish(public("2", second.Public()), public("1", first.Public()))
	require.Error(t, by(second, "2"), "the keys were read in this second")
	f.clock.Advance(time.Second)
	require.NoError(t, by(second, "2"), "a new key is looked up")
	require.NoError(t, by(first, "1"))
	require.Equal(t, 2, p.count("/keys"))
	for range 20 {
		require.Error(t, by(second, "unknown"))
	}
	require.Equal(t, 2, p.count("/keys"), "unknown keys do not have the issuer asked for each")

	p.publish(public("2", second.Public()))
	f.clock.Advance(10*time.Minute - time.Second)
	require.NoError(t, by(first, "1"))
	f.clock.Advance(time.Second)
	require.NoError(t, by(second, "2"), "starts a load in the background")
	require.Eventually(t, func() bool { return by(first, "1") != nil }, time.Minute, time.Millisecond, "a key that the issuer took back goes")
	require.NoError(t, by(second, "2"))

	p.leave(true)
	f.clock.Advance(30 * time.Minute)
	require.NoError(t, by(second, "2"), "while the issuer is away its known keys are good")
}

// TestHangingIssuerDoesNotDelayKnownKeys requires that tokens of known keys are verified at once,
// also during requests for unknown keys and however old the keys are.
func TestHangingIssuerDoesNotDelayKnownKeys(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		after time.Duration // since the keys were read
	}{{"fresh keys", time.Second}, {"old keys", time.Hour}} {
		t.Run(test.name, func(t *testing.T) {
			f, p := newFixture(t), newIDP(t)
			key, next := rsaKey(t), rsaKey(t)
			p.publish(public("1", key.Public()))
			service := f.trusting(t, p.URL)
			good := sign(t, jose.RS256, key, "1", p.saying(nil))
			_, err := service.Verify(t.Context(), good)
			require.NoError(t, err)

			f.clock.Advance(test.after)
			p.publish(public("2", next.Public()), public("1", key.Public()))
			release := p.hang(t)
			unknown := sign(t, jose.RS256, next, "2", p.saying(nil))
			answers := make(chan error, 40)
			for range cap(answers) {
				go func() { _, err := service.Verify(t.Context(), unknown); answers <- err }()
			}
			<-p.arrived
			for range 100 {
				_, err := service.Verify(t.Context(), good)
				require.NoError(t, err)
			}
			gone, leave := context.WithCancel(t.Context())
			leave()
			_, err = service.Verify(gone, unknown)
			require.ErrorIs(t, err, context.Canceled, "a caller who leaves waits no longer")
			require.Empty(t, answers, "the others still wait for the issuer")
			require.Empty(t, p.arrived, "they share one request")

			release()
			for range cap(answers) {
				require.NoError(t, <-answers, "its new key is known to all who waited")
			}
			require.Equal(t, 2, p.count("/keys"))
		})
	}
}

func TestOIDCIssuerUnreachable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		broke func(*idp)
		mend  func(*idp)
	}{
		{"it does not answer well", func(p *idp) { p.away = true }, func(p *idp) { p.away = false }},
		{"it names itself otherwise", func(p *idp) { p.named = "https://other.example" }, func(p *idp) { p.named = "" }},
		{"its keys are none", func(p *idp) { p.keysText = "<html>" }, func(p *idp) { p.keysText = "" }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f, p := newFixture(t), newIDP(t)
			key := rsaKey(t)
			p.publish(public("r", key.Public()))
			test.broke(p)
			service := f.trusting(t, p.URL) // starts without the issuer
			token := sign(t, jose.RS256, key, "r", p.saying(nil))
			for range 5 {
				_, err := service.Verify(t.Context(), token)
				require.True(t, store.HasCode(err, store.Unavailable), "%v", err)
				require.ErrorContains(t, err, p.URL)
			}
			require.Equal(t, 1, p.count("/.well-known/openid-configuration"), "it is not asked for each token")
			_, err := service.Verify(t.Context(), f.token(t).AccessToken)
			require.NoError(t, err, "our own tokens do not need it")

			p.mu.Lock()
			test.mend(p)
			p.mu.Unlock()
			f.clock.Advance(time.Second)
			_, err = service.Verify(t.Context(), token)
			require.NoError(t, err, "a second later it is tried again")
		})
	}
}

// TestOIDCUnsupportedKeys requires that an unsupported key does not affect the others.
func TestOIDCUnsupportedKeys(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), newIDP(t)
	key := rsaKey(t)
	good, err := json.Marshal(public("r", key.Public()))
	require.NoError(t, err)
	enc, err := json.Marshal(jose.JSONWebKey{Key: key.Public(), KeyID: "enc", Use: "enc"})
	require.NoError(t, err)
	p.keysText = `{"keys":[{"kty":"FUTURE","kid":"f"},{"kty":"oct","kid":"secret","k":"c2VjcmV0"},` + string(enc) + `,` + string(good) + `]}`
	service := f.trusting(t, p.URL)
	_, err = service.Verify(t.Context(), sign(t, jose.RS256, key, "r", p.saying(nil)))
	require.NoError(t, err)
	_, err = service.Verify(t.Context(), sign(t, jose.RS256, key, "enc", p.saying(nil)))
	require.Error(t, err, "a key for encryption signs nothing")
}

func TestOIDCIssuerCheck(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		url, audience, want string
	}{
		{"https://id.example", "shop-api", ""},
		{"https://id.example/tenant/1", "shop-api", ""},
		{"http://localhost:8081/realms/shop", "shop-api", ""},
		{"http://[::1]:8081", "shop-api", ""},
		{"http://id.example", "shop-api", "must use https"},
		{"id.example", "shop-api", "must be a URL"},
		{"ftp://id.example", "shop-api", "must be a URL"},
		{"https://u:p@id.example", "shop-api", "must be a URL"},
		{"https://id.example?x=1", "shop-api", "must be a URL"},
		{"", "shop-api", "must be a URL"},
		{issuer, "shop-api", "must differ from --token-issuer"},
		{"https://id.example", "", "audience"},
	} {
		err := auth.OIDCIssuer{URL: test.url, Audience: test.audience}.Check(issuer)
		if test.want == "" {
			require.NoError(t, err, test.url)
			continue
		}
		require.ErrorContains(t, err, test.want, test.url)
		require.NotContains(t, err.Error(), "u:p")
	}
	f := newFixture(t)
	_, err := auth.New(t.Context(), f.store.Access, newSealer(t, 1), auth.Options{Issuer: issuer, OIDC: &auth.OIDCIssuer{URL: issuer, Audience: "a"}})
	require.ErrorContains(t, err, "--token-issuer")
}

func TestConcurrentOIDCVerify(t *testing.T) {
	t.Parallel()
	f, p := newFixture(t), newIDP(t)
	key := rsaKey(t)
	p.publish(public("r", key.Public()))
	service := f.trusting(t, p.URL)
	token := sign(t, jose.RS256, key, "r", p.saying(nil))
	failures := make([]error, 40)
	var group sync.WaitGroup
	for i := range failures {
		group.Go(func() { _, failures[i] = service.Verify(t.Context(), token) })
	}
	group.Wait()
	for _, err := range failures {
		require.NoError(t, err)
	}
	require.Equal(t, 1, p.count("/keys"))
}
