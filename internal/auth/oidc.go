package auth

import (
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

	"portico/store"
	"portico/store/access"
)

// GrantOutside is the grant of a token that an outside issuer issued.
const GrantOutside = "oidc"

// outsidePrefix begins the client id of such a token; no id of ours has a colon.
const outsidePrefix = "oidc:"

const (
	outsideKeysFor  = 10 * time.Minute // after which an issuer's keys are read again, so that one it took back goes
	outsideDeadline = 5 * time.Second  // of one request to it
	maxOutsideID    = 255              // bytes of a client's id
)

// OutsideIssuer is an OpenID Connect issuer whose tokens are trusted.
type OutsideIssuer struct {
	URL      string // as its tokens name it: https, or http on this machine
	Audience string // that they must be meant for
}

// Check tells what is wrong with the issuer; ours is the name of our own.
func (o OutsideIssuer) Check(ours string) error {
	at, err := url.Parse(o.URL)
	switch {
	case err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" || at.User != nil || at.RawQuery != "" || at.Fragment != "":
		return fmt.Errorf("the issuer must be an address such as https://id.example, got %q", o.URL)
	case at.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, at.Hostname()):
		return fmt.Errorf("the issuer %q must be asked by https, or its keys could be changed on the way", o.URL)
	case o.URL == ours:
		return fmt.Errorf("the outside issuer must not be named as our own, %q", ours)
	case o.Audience == "":
		return errors.New("the audience that its tokens are meant for must be named, or tokens for other services would be good here")
	}
	return nil
}

// outside verifies the tokens of an outside issuer. It reads the issuer's keys
// when the first of its tokens comes. A token of a known key never waits for the
// issuer: keys older than outsideKeysFor stay good while one load in the
// background replaces them. Tokens of unknown keys wait for one shared load, and
// no load starts within reloadPause after the last one ended.
type outside struct {
	OutsideIssuer
	clock  func() time.Time
	log    *slog.Logger
	client *http.Client
	jwks   string // address of the keys, of the running load alone; empty until discovery found it

	keys atomic.Pointer[issuerKeys] // never nil

	mu      sync.Mutex    // guards what follows; never held during I/O
	loading chan struct{} // closed when the running load ends; nil while none runs
	loaded  time.Time     // when the last load ended
	failure error         // of the last load
}

// issuerKeys are the keys of one load. Nobody writes to them.
type issuerKeys struct {
	jose.JSONWebKeySet
	read time.Time
}

func newOutside(issuer OutsideIssuer, ours string, clock func() time.Time, log *slog.Logger) (*outside, error) {
	if err := issuer.Check(ours); err != nil {
		return nil, err
	}
	o := &outside{OutsideIssuer: issuer, clock: clock, log: log, client: &http.Client{Timeout: outsideDeadline}}
	o.keys.Store(&issuerKeys{})
	return o, nil
}

// issued tells whether a token says that the issuer issued it, which is not
// yet to be believed.
func (o *outside) issued(bearer string) bool {
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

// outsideAlgorithms are asymmetric, all of them: with any other, who knows the
// public key could sign.
func outsideAlgorithms() []jose.SignatureAlgorithm {
	return []jose.SignatureAlgorithm{
		jose.RS256, jose.RS384, jose.RS512, jose.ES256, jose.ES384, jose.ES512,
		jose.PS256, jose.PS384, jose.PS512, jose.EdDSA,
	}
}

// verify returns who a token of the issuer speaks for. UNAUTHENTICATED says
// what is wrong with it, UNAVAILABLE that the issuer does not answer.
func (o *outside) verify(ctx context.Context, bearer string) (*Principal, error) {
	token, err := jose.ParseSignedCompact(bearer, outsideAlgorithms())
	switch {
	case errors.As(err, new(*jose.ErrUnexpectedSignatureAlgorithm)):
		return nil, o.refuse("is not signed with an asymmetric algorithm")
	case err != nil:
		return nil, o.refuse("is malformed")
	}
	payload, err := o.signed(ctx, token)
	if err != nil {
		return nil, err
	}
	var c outsideClaims
	if store.DecodeJSON(payload, &c) != nil || c.Expiry == nil {
		return nil, o.refuse("is malformed")
	}
	if err := o.check(c); err != nil {
		return nil, err
	}
	return c.principal(o)
}

// check looks at what a signed token says: when it expires, and from when on it
// is good or was issued, each with a leeway.
func (o *outside) check(c outsideClaims) error {
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: o.URL, AnyAudience: jwt.Audience{o.Audience}, Time: o.clock()}, clockSkew)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrExpired):
		return o.refuse("expired at %s", c.Expiry.Time().UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrInvalidAudience):
		return o.refuse("is meant for another audience than %q", o.Audience)
	}
	return o.refuse("is not valid yet; the clocks of the servers may differ")
}

// signed is what a token says, when one of the issuer's keys signed it.
func (o *outside) signed(ctx context.Context, token *jose.JSONWebSignature) ([]byte, error) {
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
		return nil, o.refuse("was signed with a key that the issuer does not publish")
	}
	return nil, o.refuse("has a wrong signature; it was changed, or not issued there")
}

// find returns the issuer's keys of an id, all of them for a token without one.
// It waits for a load only where it knows no such key, until ctx ends.
// UNAVAILABLE when there is none and the last load failed.
func (o *outside) find(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	known := o.keys.Load()
	if keys := known.find(kid); len(keys) > 0 {
		if o.clock().Sub(known.read) >= outsideKeysFor {
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
	if len(keys) == 0 && o.lastFailure() != nil {
		return nil, &store.Error{Code: store.Unavailable, Detail: fmt.Sprintf("The issuer %s is not responding, so its tokens cannot be checked. Retry in a few seconds.", o.URL)}
	}
	return keys, nil
}

func (k *issuerKeys) find(kid string) (keys []jose.JSONWebKey) {
	for _, key := range k.Keys {
		if (kid == "" || key.KeyID == kid) && key.Use != "enc" && key.IsPublic() {
			keys = append(keys, key)
		}
	}
	return keys
}

func (o *outside) lastFailure() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.failure
}

// load starts a load of the issuer's keys in the background, or joins the one
// that runs. The channel closes when it ends. It is nil where the last load ended
// less than reloadPause ago, and nothing was started.
func (o *outside) load(ctx context.Context) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.loading != nil {
		return o.loading
	}
	if since := o.clock().Sub(o.loaded); since >= 0 && since < reloadPause {
		return nil
	}
	ended := make(chan struct{})
	o.loading = ended
	go func() {
		defer close(ended)
		keys, err := o.read(context.WithoutCancel(ctx))
		if err != nil {
			o.jwks = "" // discover it again
			o.log.WarnContext(ctx, "could not read the keys of the outside issuer", "issuer", o.URL, "error", err)
		} else {
			o.keys.Store(keys)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.failure, o.loaded, o.loading = err, o.clock(), nil
	}()
	return ended
}

// read asks the issuer for its keys. The running load alone calls it.
func (o *outside) read(ctx context.Context) (*issuerKeys, error) {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(ctx, o.client), outsideDeadline)
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
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.jwks, nil)
	if err != nil {
		return nil, err
	}
	answer, err := o.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", o.jwks, answer.Status)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, answer.Body, 1<<20)).Decode(&set); err != nil {
		return nil, fmt.Errorf("%s is no set of keys: %w", o.jwks, err)
	}
	keys := &issuerKeys{read: o.clock()}
	for _, raw := range set.Keys { // a kind of key that we do not know does no harm to the others
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil {
			keys.Keys = append(keys.Keys, key)
		}
	}
	return keys, nil
}

func (o *outside) refuse(format string, args ...any) *store.Error {
	return unauthenticated("The token of the issuer %s %s; get a new one there.", o.URL, fmt.Sprintf(format, args...))
}

// outsideClaims are what a token of an outside issuer says to us.
type outsideClaims struct {
	jwt.Claims
	Scope       string `json:"scope"` // separated by spaces
	SCP         texts  `json:"scp"`   // what some issuers call it
	Authorized  string `json:"azp"`
	ClientID    string `json:"client_id"`
	AccountID   string `json:"account_id"`
	AccountTags texts  `json:"account_tags"`
	CustomerID  string `json:"customer_id"`
}

// texts is an array of strings, or one string, separated by spaces.
type texts []string

// UnmarshalJSON implements json.Unmarshaler.
func (t *texts) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*t = strings.Fields(one)
		return nil
	}
	return json.Unmarshal(text, (*[]string)(t))
}

// principal has those of the scopes that are ours.
func (c outsideClaims) principal(o *outside) (*Principal, error) {
	id := c.Subject
	for _, named := range []string{c.ClientID, c.Authorized} {
		if named != "" {
			id = named
		}
	}
	unprintable := func(r rune) bool { return !unicode.IsPrint(r) }
	if id == "" || len(id) > maxOutsideID || !utf8.ValidString(id) || strings.ContainsFunc(id, unprintable) {
		return nil, o.refuse("names no client by azp, client_id or sub, in 1 to %d bytes", maxOutsideID)
	}
	said := append(strings.Fields(c.Scope), c.SCP...)
	scopes := slices.DeleteFunc(access.Scopes(), func(scope string) bool { return !slices.Contains(said, scope) })
	return &Principal{
		ClientID: outsidePrefix + id, Grant: GrantOutside, Scopes: scopes, Expires: c.Expiry.Time().UTC(),
		AccountID: c.AccountID, AccountTags: c.AccountTags, CustomerID: c.CustomerID,
	}, nil
}
