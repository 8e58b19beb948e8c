package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"portico/store"
	"portico/store/access"
	"portico/store/seal"
	"portico/store/shop"
)

// The grants of POST /oauth/access_token.
const (
	GrantClientCredentials = "client_credentials" // a client that shows its secret: all its scopes
	GrantImplicit          = "implicit"           // a storefront without a secret: reading only
	GrantShopper           = "shopper"            // minted for a shopper, by a client that may
)

const (
	audience        = "portico"
	defaultIssuer   = "portico"
	defaultLifetime = time.Hour
	maxTokenSize    = 8 << 10 // bytes; longer ones do not pass the proxies in front either
)

// Options say how tokens are made. The zero value is good.
type Options struct {
	Issuer   string           // the iss of tokens, the same on all servers of one database; empty means "portico"
	Clock    func() time.Time // nil means time.Now
	Lifetime time.Duration    // of a token, whole seconds; 0 means one hour
	Log      *slog.Logger     // nil discards
	Outside  *OutsideIssuer   // whose tokens are good too; nil for nobody's
	Limit    Limit            // of token requests; nil for none
}

// Limit counts a use by a client, empty where it does not matter which, and by
// the address that the request of ctx came from. RATE_LIMITED when either has
// had its share.
type Limit func(ctx context.Context, clientID string) error

// Service issues tokens and verifies them. Its methods may be called from
// many goroutines.
type Service struct {
	store    *shop.Store
	issuer   string
	clock    func() time.Time
	lifetime time.Duration
	keys     *keyring
	verified verifiedTokens
	outside  *outside // nil when no other issuer is trusted
	limit    Limit
}

// New makes a service that signs with the keys of the database, creating the
// first one. The error is seal.ErrKey when they were sealed with
// another key. It does not ask the outside issuer for anything yet.
func New(ctx context.Context, s *shop.Store, sealer *seal.Sealer, options Options) (*Service, error) {
	service := &Service{
		store: s, issuer: options.Issuer, clock: options.Clock, lifetime: options.Lifetime,
		verified: newVerifiedTokens(), limit: options.Limit,
	}
	if service.limit == nil {
		service.limit = func(context.Context, string) error { return nil }
	}
	if service.issuer == "" {
		service.issuer = defaultIssuer
	}
	if service.clock == nil {
		service.clock = time.Now
	}
	if service.lifetime == 0 {
		service.lifetime = defaultLifetime
	}
	log := options.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	var err error
	if options.Outside != nil {
		if service.outside, err = newOutside(*options.Outside, service.issuer, service.clock, log); err != nil {
			return nil, err
		}
	}
	if service.keys, err = newKeyring(ctx, s, sealer, service.clock, log); err != nil {
		return nil, err
	}
	return service, nil
}

// Grant is what a token is to allow.
type Grant struct {
	Type     string // one of the grants above
	ClientID string
	Scopes   []string
	Lifetime time.Duration // whole seconds, at most store.MaxTokenLifetime; 0 means the service's
}

// Token is an issued token.
type Token struct {
	AccessToken string        // what goes behind "Authorization: Bearer"
	Grant       string        // the type of its grant
	Scopes      []string      // what it may do
	Lifetime    time.Duration // from now, whole seconds
	Expires     time.Time     // UTC, whole seconds
}

// claims are what a token says.
type claims struct {
	jwt.Claims
	Scope       string   `json:"scope"` // separated by spaces
	Grant       string   `json:"grant"`
	AccountID   string   `json:"account_id,omitempty"`
	AccountTags []string `json:"account_tags,omitempty"`
	CustomerID  string   `json:"customer_id,omitempty"`
}

// Issue signs a token for a grant. It does not ask whether the client exists
// or may have the scopes. UNPROCESSABLE when the token would be too long to be
// sent in a header.
func (s *Service) Issue(ctx context.Context, grant Grant) (*Token, error) {
	lifetime := grant.Lifetime
	if lifetime == 0 {
		lifetime = s.lifetime
	}
	now := s.clock().UTC().Truncate(time.Second)
	return s.sign(ctx, claims{
		Claims: s.standard(grant.ClientID, rand.Text(), now, now.Add(lifetime)),
		Scope:  strings.Join(grant.Scopes, " "),
		Grant:  grant.Type,
	})
}

// ShopperToken signs what a client granted a shopper. As long as the same key
// signs, the same grant is the same token.
func (s *Service) ShopperToken(ctx context.Context, clientID string, grant *access.ShopperTokenContent) (*Token, error) {
	return s.sign(ctx, claims{
		Claims:      s.standard(clientID, grant.ID, grant.IssuedAt, grant.Expires),
		Scope:       strings.Join(ShopperScopes(), " "),
		Grant:       GrantShopper,
		AccountID:   grant.AccountID,
		AccountTags: grant.AccountTags,
		CustomerID:  grant.CustomerID,
	})
}

// ShopperScopes are what a shopper's token may do.
func ShopperScopes() []string { return []string{"catalog:read", "inventory:read"} }

func (s *Service) standard(subject, id string, issued, expires time.Time) jwt.Claims {
	return jwt.Claims{
		Issuer:   s.issuer,
		Audience: jwt.Audience{audience},
		Subject:  subject,
		IssuedAt: jwt.NewNumericDate(issued),
		Expiry:   jwt.NewNumericDate(expires),
		ID:       id,
	}
}

func (s *Service) sign(ctx context.Context, c claims) (*Token, error) {
	issued, expires := c.IssuedAt.Time().UTC(), c.Expiry.Time().UTC()
	token := &Token{Grant: c.Grant, Scopes: strings.Fields(c.Scope), Lifetime: expires.Sub(issued), Expires: expires}
	var err error
	if token.AccessToken, err = jwt.Signed(s.keys.latest(ctx).signer(s.clock())).Claims(c).Serialize(); err != nil {
		return nil, fmt.Errorf("sign a token: %w", err)
	}
	if len(token.AccessToken) > maxTokenSize {
		return nil, &store.Error{Code: store.Unprocessable, Detail: fmt.Sprintf(
			"The token would be %d bytes long, and at most %d fit into a header; give it fewer account tags.", len(token.AccessToken), maxTokenSize)}
	}
	return token, nil
}

// ClientCredentials issues a token with the client's scopes, of those only the
// requested ones where scope names any. UNAUTHENTICATED when the id or the secret
// is wrong; a *TokenError when scope is (narrow).
func (s *Service) ClientCredentials(ctx context.Context, id, secret, scope string) (*Token, error) {
	client, err := s.store.AuthenticateClient(ctx, id, secret)
	if err != nil {
		return nil, err
	}
	scopes, err := narrow(client.Scopes, scope)
	if err != nil {
		return nil, err
	}
	return s.Issue(ctx, Grant{Type: GrantClientCredentials, ClientID: client.ID, Scopes: scopes})
}

// Implicit issues a token that may read catalogs and stock, as far as the
// client may and scope asks for it. UNAUTHENTICATED when there is no such client,
// or it was revoked; a *TokenError when scope is wrong (narrow).
func (s *Service) Implicit(ctx context.Context, clientID, scope string) (*Token, error) {
	client, err := s.store.Client(ctx, clientID)
	if store.HasCode(err, store.NotFound) {
		return nil, unauthenticated("The client id is unknown.")
	}
	if err != nil {
		return nil, err
	}
	if !client.RevokedAt.IsZero() {
		return nil, unauthenticated("The API client was revoked; ask for the id of another one.")
	}
	scopes := slices.DeleteFunc(ShopperScopes(), func(scope string) bool {
		return !slices.Contains(client.Scopes, scope)
	})
	if scopes, err = narrow(scopes, scope); err != nil {
		return nil, err
	}
	return s.Issue(ctx, Grant{Type: GrantImplicit, ClientID: client.ID, Scopes: scopes})
}

// narrow returns the scopes of held that a token request asks for: scope names
// them, separated by spaces (RFC 6749, 3.3); empty asks for all. A scope that
// exists and is not held is left out. An unknown scope, and a request of which
// nothing is left, is a *TokenError.
func narrow(held []string, scope string) ([]string, error) {
	asked := strings.Fields(scope)
	if len(asked) == 0 {
		return held, nil
	}
	known := access.Scopes()
	for _, name := range asked {
		if !slices.Contains(known, name) {
			return nil, invalidScope("must be one or more of %s, separated by spaces; got %q", strings.Join(known, ", "), store.Abbreviate(name))
		}
	}
	granted := slices.DeleteFunc(slices.Clone(held), func(name string) bool { return !slices.Contains(asked, name) })
	if len(granted) == 0 {
		has := "none"
		if len(held) > 0 {
			has = strings.Join(held, ", ")
		}
		return nil, invalidScope("must name at least one scope that this grant allows the client: %s; got %q", has, store.Abbreviate(scope))
	}
	return granted, nil
}

// JWKS is the set of public keys as JSON (RFC 7517), the newest first.
func (s *Service) JWKS() []byte { return s.keys.current.Load().jwks }
