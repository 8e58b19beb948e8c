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
		return fmt.Errorf("the issuer must be an address such as https://id.example, not %q", o.URL)
	case at.Scheme == "http" && !slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, at.Hostname()):
		return fmt.Errorf("the issuer %q must be asked by https, or its keys could be changed on the way", o.URL)
	case o.URL == ours:
		return fmt.Errorf("the outside issuer must not be named as our own, %q", ours)
	case o.Audience == "":
		return errors.New("the audience that its tokens are meant for must be named, or tokens for other services would be good here")
	}
	return nil
}

// outside verifies the tokens of an outside issuer. The issuer is asked for
// its keys when the first of its tokens comes, and again when that failed, but
// not more often than once in reloadPause.
type outside struct {
	OutsideIssuer
	clock  func() time.Time
	log    *slog.Logger
	client *http.Client

	mu      sync.Mutex // one reading at a time
	jwks    string     // where its keys are; empty until they were found
	keys    jose.JSONWebKeySet
	read    time.Time // when its keys were last read
	tried   time.Time // when a reading was last tried
	failure error     // of the last try
}

func newOutside(issuer OutsideIssuer, ours string, clock func() time.Time, log *slog.Logger) (*outside, error) {
	if err := issuer.Check(ours); err != nil {
		return nil, err
	}
	return &outside{OutsideIssuer: issuer, clock: clock, log: log, client: &http.Client{Timeout: outsideDeadline}}, nil
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

// find returns the issuer's keys of an id, all of them for a token without
// one. They are read again when there is none, or when they were read long ago.
func (o *outside) find(ctx context.Context, kid string) ([]jose.JSONWebKey, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	keys := o.known(kid)
	old := o.clock().Sub(o.read) >= outsideKeysFor
	if since := o.clock().Sub(o.tried); (old || len(keys) == 0) && (since < 0 || since >= reloadPause) {
		if o.failure = o.reload(ctx); o.failure != nil {
			o.jwks = "" // to be found anew
			o.log.WarnContext(ctx, "could not read the keys of the outside issuer", "issuer", o.URL, "error", o.failure)
		}
		o.tried = o.clock()
		keys = o.known(kid)
	}
	if len(keys) == 0 && o.failure != nil {
		return nil, &store.Error{Code: store.Unavailable, Detail: fmt.Sprintf("The issuer %s does not answer, so its tokens cannot be checked; try again in a moment.", o.URL)}
	}
	return keys, nil
}

func (o *outside) known(kid string) (keys []jose.JSONWebKey) {
	for _, key := range o.keys.Keys {
		if (kid == "" || key.KeyID == kid) && key.Use != "enc" && key.IsPublic() {
			keys = append(keys, key)
		}
	}
	return keys
}

// reload asks the issuer, whether or not the request at hand is given up.
func (o *outside) reload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(oidc.ClientContext(context.WithoutCancel(ctx), o.client), outsideDeadline)
	defer cancel()
	if o.jwks == "" {
		provider, err := oidc.NewProvider(ctx, o.URL)
		if err != nil {
			return err
		}
		var found struct {
			JWKS string `json:"jwks_uri"`
		}
		if err := provider.Claims(&found); err != nil {
			return err
		}
		o.jwks = found.JWKS
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, o.jwks, nil)
	if err != nil {
		return err
	}
	answer, err := o.client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", o.jwks, answer.Status)
	}
	var keys struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(nil, answer.Body, 1<<20)).Decode(&keys); err != nil {
		return fmt.Errorf("%s is no set of keys: %w", o.jwks, err)
	}
	o.keys = jose.JSONWebKeySet{}
	for _, raw := range keys.Keys { // a kind of key that we do not know does no harm to the others
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil {
			o.keys.Keys = append(o.keys.Keys, key)
		}
	}
	o.read = o.clock()
	return nil
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
