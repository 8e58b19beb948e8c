package auth

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"

	"portico/store"
	"portico/store/access"
)

// Grant describes a token to issue.
type Grant struct {
	Type     string // one of the grants above
	ClientID string
	Scopes   []string
	Lifetime time.Duration // whole seconds, at most access.MaxTokenLifetime; 0 means the service's
}

// Token is an issued token.
type Token struct {
	AccessToken string        // what goes behind "Authorization: Bearer"
	Grant       string        // the type of its grant
	Scopes      []string      // what it may do
	Lifetime    time.Duration // from now, whole seconds
	Expires     time.Time     // UTC, whole seconds
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

// standardClaims returns the claims that all tokens of the service have.
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

// sign signs claims with the key that signs now. It returns UNPROCESSABLE if the token would be longer than maxTokenSize.
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
	client, err := s.access.AuthenticateClient(ctx, id, secret)
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
	client, err := s.access.Client(ctx, clientID)
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
