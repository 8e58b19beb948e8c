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
	maxTokenSize    = 8 << 10 // bytes; common proxies reject longer headers
)

// Options configure a Service. The zero value is valid.
type Options struct {
	Issuer   string           // the iss of tokens, the same on all servers of one database; empty means "portico"
	Clock    func() time.Time // nil means time.Now
	Lifetime time.Duration    // of a token, whole seconds; 0 means one hour
	Log      *slog.Logger     // nil discards
	OIDC     *OIDCIssuer      // whose tokens are good too; nil for nobody's
	Limit    Limit            // of token requests; nil for none
}

// Limit counts a use by a client, "" for any, and by the address of the request of ctx. It returns RATE_LIMITED above the
// limit.
type Limit func(ctx context.Context, clientID string) error

// Service issues and verifies tokens. Its methods are safe for concurrent use.
type Service struct {
	store    *shop.Store
	issuer   string
	clock    func() time.Time
	lifetime time.Duration
	keys     *keyring
	verified verifiedTokens
	oidc     *oidcVerifier // nil when no other issuer is trusted
	limit    Limit
}

// New returns a service that signs with the keys of the database, and creates the first key. The error is seal.ErrKey if
// they were sealed with another key. It does not contact the OIDC issuer.
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
	if options.OIDC != nil {
		if service.oidc, err = newOIDCVerifier(*options.OIDC, service.issuer, service.clock, log); err != nil {
			return nil, err
		}
	}
	if service.keys, err = newKeyring(ctx, s, sealer, service.clock, log); err != nil {
		return nil, err
	}
	return service, nil
}

// Grant describes a token to issue.
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

// claims are the claims of our tokens.
type claims struct {
	jwt.Claims
	Scope       string   `json:"scope"` // separated by spaces
	Grant       string   `json:"grant"`
	AccountID   string   `json:"account_id,omitempty"`
	AccountTags []string `json:"account_tags,omitempty"`
	CustomerID  string   `json:"customer_id,omitempty"`
}

// Issue signs a token for a grant. It does not check that the client exists and has the scopes. It returns UNPROCESSABLE if
// the token would be too long for a header.
func (s *Service) Issue(ctx context.Context, grant Grant) (*Token, error) {
	lifetime := grant.Lifetime
	if lifetime == 0 {
		lifetime = s.lifetime
	}
	now := s.clock().UTC().Truncate(time.Second)
	return s.sign(ctx, claims{
		Claims: s.standardClaims(grant.ClientID, rand.Text(), now, now.Add(lifetime)),
		Scope:  strings.Join(grant.Scopes, " "),
		Grant:  grant.Type,
	})
}

// ShopperToken signs a token for a shopper. The same grant gives the same token while the same key signs.
func (s *Service) ShopperToken(ctx context.Context, clientID string, grant *access.ShopperTokenContent) (*Token, error) {
	return s.sign(ctx, claims{
		Claims:      s.standardClaims(clientID, grant.ID, grant.IssuedAt, grant.Expires),
		Scope:       strings.Join(ShopperScopes(), " "),
		Grant:       GrantShopper,
		AccountID:   grant.AccountID,
		AccountTags: grant.AccountTags,
		CustomerID:  grant.CustomerID,
	})
}

// ShopperScopes returns the scopes of shopper tokens.
func ShopperScopes() []string { return []string{"catalog:read", "inventory:read"} }

func (s *Service) standardClaims(subject, id string, issued, expires time.Time) jwt.Claims {
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
			"The token would be %d bytes, at most %d are allowed. Use fewer account tags.", len(token.AccessToken), maxTokenSize)}
	}
	return token, nil
}

// ClientCredentials issues a token with the scopes of the client, or those of them that scope names. It returns
// UNAUTHENTICATED for a wrong id or secret, and a *TokenError for an invalid scope (intersectScopes).
func (s *Service) ClientCredentials(ctx context.Context, id, secret, scope string) (*Token, error) {
	client, err := s.store.AuthenticateClient(ctx, id, secret)
	if err != nil {
		return nil, err
	}
	scopes, err := intersectScopes(client.Scopes, scope)
	if err != nil {
		return nil, err
	}
	return s.Issue(ctx, Grant{Type: GrantClientCredentials, ClientID: client.ID, Scopes: scopes})
}

// Implicit issues a token that can read catalogs and stock, as far as the client can and scope names it. It returns
// UNAUTHENTICATED for an unknown or revoked client, and a *TokenError for an invalid scope (intersectScopes).
func (s *Service) Implicit(ctx context.Context, clientID, scope string) (*Token, error) {
	client, err := s.store.Client(ctx, clientID)
	if store.HasCode(err, store.NotFound) {
		return nil, unauthenticated("The client id is unknown.")
	}
	if err != nil {
		return nil, err
	}
	if !client.RevokedAt.IsZero() {
		return nil, unauthenticated("The API client was revoked. Use the id of another one.")
	}
	scopes := slices.DeleteFunc(ShopperScopes(), func(scope string) bool {
		return !slices.Contains(client.Scopes, scope)
	})
	if scopes, err = intersectScopes(scopes, scope); err != nil {
		return nil, err
	}
	return s.Issue(ctx, Grant{Type: GrantImplicit, ClientID: client.ID, Scopes: scopes})
}

// intersectScopes returns the scopes of held that a token request asks for: scope names them, separated by spaces (RFC 6749, 3.3);
// empty asks for all. It ignores known scopes that are not held. An unknown scope, and an empty result, is a
// *TokenError.
func intersectScopes(held []string, scope string) ([]string, error) {
	requested := strings.Fields(scope)
	if len(requested) == 0 {
		return held, nil
	}
	known := access.Scopes()
	for _, name := range requested {
		if !slices.Contains(known, name) {
			return nil, invalidScope("must be one or more of %s, separated by spaces; got %q", strings.Join(known, ", "), store.Abbreviate(name))
		}
	}
	granted := slices.DeleteFunc(slices.Clone(held), func(name string) bool { return !slices.Contains(requested, name) })
	if len(granted) == 0 {
		has := "none"
		if len(held) > 0 {
			has = strings.Join(held, ", ")
		}
		return nil, invalidScope("must name at least one scope that this grant allows the client: %s; got %q", has, store.Abbreviate(scope))
	}
	return granted, nil
}

// JWKS returns the public keys as a JSON Web Key Set (RFC 7517), the newest first.
func (s *Service) JWKS() []byte { return s.keys.current.Load().jwks }
