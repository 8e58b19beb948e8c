package auth

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"golang.org/x/sync/singleflight"

	"portico/store"
	"portico/store/access"
)

// GrantOIDC is the grant of tokens of the OIDC issuer.
const GrantOIDC = "oidc"

// oidcPrefix begins the client id of such tokens; ids of other clients have no colon.
const oidcPrefix = "oidc:"

const (
	issuerKeysMaxAge = 10 * time.Minute // after which an issuer's keys are read again, so that one it took back goes
	issuerTimeout    = 5 * time.Second  // of one request to it
	maxOIDCClientID  = 255              // bytes of a client's id
)

// OIDCIssuer is an OpenID Connect issuer whose tokens are accepted.
type OIDCIssuer struct {
	URL      string // the iss of its tokens: https, or http on this machine
	Audience string // that its tokens must have
}

// Check returns an error for an issuer that cannot be trusted; ours is the name of this service's own issuer. The error does
// not quote the URL, which may hold a password.
func (o OIDCIssuer) Check(ours string) error {
	at, err := url.Parse(o.URL)
	switch {
	case err != nil || store.CheckURL(o.URL) != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return errors.New("the issuer must be a URL without user, query and fragment, such as https://id.example")
	case at.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, at.Hostname()):
		return errors.New("the issuer must use https")
	case o.URL == ours:
		return fmt.Errorf("the OIDC issuer must differ from --token-issuer, %q", ours)
	case o.Audience == "":
		return errors.New("the audience of its tokens must be set")
	}
	return nil
}

// oidcVerifier verifies the tokens of an OIDC issuer. It loads the issuer's keys when the first token comes. A token with a
// known key never waits: keys older than issuerKeysMaxAge stay valid while they are reloaded in the background.
// Tokens with unknown keys wait for one shared load, at most one in reloadPause.
type oidcVerifier struct {
	OIDCIssuer
	clock  func() time.Time
	log    *slog.Logger
	client *http.Client
	jwks   string // address of the keys; empty until discovery found it. Only the running load uses it.

	keys  atomic.Pointer[issuerKeys] // never nil
	loads singleflight.Group

	mu      sync.Mutex // guards what follows; never held during I/O
	loaded  time.Time  // when the last load ended
	loadErr error      // of the last load
}

// issuerKeys are the keys of one load. They are not changed.
type issuerKeys struct {
	jose.JSONWebKeySet
	loadedAt time.Time
}

func newOIDCVerifier(issuer OIDCIssuer, ours string, clock func() time.Time, log *slog.Logger) (*oidcVerifier, error) {
	if err := issuer.Check(ours); err != nil {
		return nil, err
	}
	o := &oidcVerifier{OIDCIssuer: issuer, clock: clock, log: log, client: &http.Client{Timeout: issuerTimeout}}
	o.keys.Store(&issuerKeys{})
	return o, nil
}

// matches reports whether a token names the issuer. The token is not verified yet.
func (o *oidcVerifier) matches(bearer string) bool {
	if o == nil {
		return false
	}
	parts := strings.SplitN(bearer, ".", 3)
	if len(parts) != 3 {
		return false
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	var said struct {
		Issuer string `json:"iss"`
	}
	return err == nil && store.DecodeJSON(text, &said) == nil && said.Issuer == o.URL
}

// oidcAlgorithms returns asymmetric algorithms only: with others, the public key would be enough to sign.
func oidcAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512,
		jose.PS256, jose.PS384, jose.PS512, jose.EdDSA,
	}
}

// verify returns the principal of a token. It returns UNAUTHENTICATED for an invalid token, and UNAVAILABLE if the issuer is
// not responding.
func (o *oidcVerifier) verify(ctx context.Context, bearer string) (*Principal, error) {
	token, err := jose.ParseSignedCompact(bearer, oidcAlgorithms())
	switch {
	case errors.As(err, new(*jose.ErrUnexpectedSignatureAlgorithm)):
		return nil, o.reject("is not signed with an asymmetric algorithm")
	case err != nil:
		return nil, o.reject("is malformed")
	}
	payload, err := o.verifySignature(ctx, token)
	if err != nil {
		return nil, err
	}
	var c oidcClaims
	if store.DecodeJSON(payload, &c) != nil || c.Expiry == nil {
		return nil, o.reject("is malformed")
	}
	if err := o.checkClaims(c); err != nil {
		return nil, err
	}
	return c.principal(o)
}

// checkClaims checks expiry, audience, nbf and iat, each with a leeway of clockSkew.
func (o *oidcVerifier) checkClaims(c oidcClaims) error {
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: o.URL, AnyAudience: jwt.Audience{o.Audience}, Time: o.clock()}, clockSkew)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrExpired):
		return o.reject("expired at %s", c.Expiry.Time().UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrInvalidAudience):
		return o.reject("is meant for another audience than %q", o.Audience)
	}
	return o.reject("is not valid yet (the clocks of the servers may differ)")
}

// verifySignature returns the payload of a token that one of the issuer's keys signed.
func (o *oidcVerifier) verifySignature(ctx context.Context, token *jose.JSONWebSignature) ([]byte, error) {
	keys, err := o.find(ctx, token.Signatures[0].Header.KeyID)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if payload, err := token.Verify(key); err == nil {
			return payload, nil
		}
	}
	if len(keys) == 0 {
		return nil, o.reject("was signed with a key that the issuer does not publish")
	}
	return nil, o.reject("has a wrong signature; it was changed, or not issued there")
}

// find returns the issuer's keys with an id, all keys for a token without one. It waits for a load only if it knows no such
// key, until ctx ends. It returns UNAVAILABLE if there is none and the last load failed.
func (o *oidcVerifier) find(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	current := o.keys.Load()
	if keys := current.find(kid); len(keys) > 0 {
		if o.clock().Sub(current.loadedAt) >= issuerKeysMaxAge {
			o.load(ctx)
		}
		return keys, nil
	}
	if loading := o.load(ctx); loading != nil {
		select {
		case <-loading:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	keys := o.keys.Load().find(kid)
	if len(keys) == 0 && o.lastErr() != nil {
		return nil, &store.Error{Code: store.Unavailable, Detail: fmt.Sprintf("The issuer %s is not responding, so its tokens cannot be checked. Retry in a few seconds.", o.URL)}
	}
	return keys, nil
}

// find returns the public keys with an id that may verify signatures, all of those for an empty id.
func (k *issuerKeys) find(kid string) (keys []jose.JSONWebKey) {
	for _, key := range k.Keys {
		if (kid == "" || key.KeyID == kid) && key.Use != "enc" && key.IsPublic() {
			keys = append(keys, key)
		}
	}
	return keys
}

func (o *oidcVerifier) lastErr() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.loadErr
}

// load starts a load in the background, or joins the one that runs. The channel receives when it ends. It is nil if the last
// load ended less than reloadPause ago.
func (o *oidcVerifier) load(ctx context.Context) <-chan singleflight.Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	if since := o.clock().Sub(o.loaded); since >= 0 && since < reloadPause {
		return nil
	}
	return o.loads.DoChan("", func() (any, error) {
		keys, err := o.read(context.WithoutCancel(ctx))
		if err != nil {
			o.jwks = "" // discover it again
			o.log.WarnContext(ctx, "cannot load the keys of the OIDC issuer", "issuer", o.URL, "error", err)
		} else {
			o.keys.Store(keys)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.loadErr, o.loaded = err, o.clock()
		return nil, nil
	})
}

// read fetches the keys. Only the running load calls it.
func (o *oidcVerifier) read(ctx context.Context) (*issuerKeys, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.client), issuerTimeout)
	defer cancel()
	if o.jwks == "" {
		provider, err := oidc.NewProvider(ctx, o.URL)
		if err != nil {
			return nil, err
		}
		var found struct {
			JWKS string `json:"jwks_uri"`
		}
		if err := provider.Claims(&found); err != nil {
			return nil, err
		}
		o.jwks = found.JWKS
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.jwks, nil)
	if err != nil {
		return nil, err
	}
	resp, err := o.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s returned %s", o.jwks, resp.Status)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, resp.Body, 1<<20)).Decode(&set); err != nil {
		return nil, fmt.Errorf("%s is not a JSON Web Key Set: %w", o.jwks, err)
	}
	keys := &issuerKeys{loadedAt: o.clock()}
	for _, raw := range set.Keys { // unknown kinds of keys are ignored
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil {
			keys.Keys = append(keys.Keys, key)
		}
	}
	return keys, nil
}

func (o *oidcVerifier) reject(format string, args ...any) *store.Error {
	return unauthenticated("The token of the issuer %s %s. Get a new one there.", o.URL, fmt.Sprintf(format, args...))
}

// oidcClaims are the claims that we read from a token of the OIDC issuer.
type oidcClaims struct {
	jwt.Claims
	Scope           string     `json:"scope"` // separated by spaces
	SCP             stringList `json:"scp"`   // what some issuers call it
	AuthorizedParty string     `json:"azp"`
	ClientID        string     `json:"client_id"`
	AccountID       string     `json:"account_id"`
	AccountTags     stringList `json:"account_tags"`
	CustomerID      string     `json:"customer_id"`
}

// stringList is an array of strings, or one string separated by spaces.
type stringList []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *stringList) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = strings.Fields(one)
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// principal returns the principal, with the known ones of the scopes. It is the subject: a person, or an app that acts for
// itself. The app that a person uses is not, since all its users would share quotas, idempotency keys and a name in logs.
func (c oidcClaims) principal(o *oidcVerifier) (*Principal, error) {
	id := cmp.Or(c.Subject, c.AuthorizedParty, c.ClientID)
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if id == "" || len(id) > maxOIDCClientID || !utf8.ValidString(id) || strings.ContainsFunc(id, unprintable) {
		return nil, o.reject("names nobody by sub, azp or client_id, in 1 to %d bytes", maxOIDCClientID)
	}
	names := append(strings.Fields(c.Scope), c.SCP...)
	scopes := slices.DeleteFunc(access.Scopes(), func(scope string) bool { return !slices.Contains(names, scope) })
	return &Principal{
		ClientID: oidcPrefix + id, Grant: GrantOIDC, Scopes: scopes, Expires: c.Expiry.Time().UTC(),
		AccountID: c.AccountID, AccountTags: c.AccountTags, CustomerID: c.CustomerID,
	}, nil
}
