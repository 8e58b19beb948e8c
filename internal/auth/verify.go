package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/maypok86/otter/v2"

	"portico/store"
	"portico/store/access"
)

const (
	// clockSkew is how far the clocks of two servers may be apart, for times that
	// end a token, and for those at which one of an outside issuer begins.
	clockSkew = time.Minute

	// maxExpiry is how far off the expiry of a token of ours may be: none is issued
	// for longer than the first, by a clock that may be ahead by the second. Of one
	// that was issued by a clock a year ahead nobody could say when it ends.
	maxExpiry = access.MaxTokenLifetime + time.Hour
)

// Verify returns who a bearer token speaks for. UNAUTHENTICATED says what is
// wrong with the token and what to do; another error means that the database
// did not answer.
func (s *Service) Verify(ctx context.Context, bearer string) (*Principal, error) {
	if len(bearer) > maxTokenSize {
		return nil, errMalformed()
	}
	if s.oidc.matches(bearer) {
		return s.oidc.verify(ctx, bearer)
	}
	digest := digestOf(bearer)
	if principal, ok := s.cached(ctx, digest); ok {
		if err := s.checkRevoked(ctx, principal); err != nil {
			return nil, err
		}
		return principal, nil
	}
	c, kid, err := s.verifySignature(ctx, bearer)
	if err != nil {
		return nil, err
	}
	if err := s.checkClaims(c); err != nil {
		return nil, err
	}
	principal := c.principal()
	if err := s.checkRevoked(ctx, principal); err != nil {
		return nil, err
	}
	if s.clock().Before(principal.Expires) {
		s.verified.Set(digest, verifiedToken{principal, kid})
	}
	return principal, nil
}

// digestOf is the SHA-256 of a token, which is not longer than maxTokenSize.
func digestOf(bearer string) [sha256.Size]byte {
	var usual [1 << 10]byte // on the stack
	return sha256.Sum256(append(usual[:0], bearer...))
}

// checkRevoked is UNAUTHENTICATED once the token's client is revoked.
func (s *Service) checkRevoked(ctx context.Context, p *Principal) error {
	revoked, err := s.store.ClientRevoked(ctx, p.ClientID)
	if err == nil && revoked {
		return unauthenticated("The API client that the token was issued to, or minted by, was revoked.")
	}
	return err
}

// verifySignature checks the form and the signature.
func (s *Service) verifySignature(ctx context.Context, bearer string) (c claims, kid string, err error) {
	token, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.EdDSA})
	if other := new(jose.ErrUnexpectedSignatureAlgorithm); errors.As(err, &other) {
		return c, "", unauthenticated("The token is not signed with EdDSA; send one that POST /oauth/access_token issued.")
	}
	if err != nil {
		return c, "", errMalformed()
	}
	kid = token.Headers[0].KeyID
	key, err := s.keys.find(ctx, kid)
	if err != nil {
		return c, "", err
	}
	err = token.Claims(key, &c)
	if errors.Is(err, jose.ErrCryptoFailure) {
		return c, "", unauthenticated("The token's signature is wrong; it was changed, or not issued by this service. Get a new one from POST /oauth/access_token.")
	}
	if err != nil {
		return c, "", errMalformed()
	}
	return c, kid, nil
}

// checkClaims looks at what a signed token says. Ours are good from the moment that
// they are issued: they have no nbf, which would be heeded, and when they say
// that they were issued (iat) is not looked at, as RFC 7519 has it. So a server
// whose clock is behind that of the one which issued a token takes it.
func (s *Service) checkClaims(c claims) error {
	if c.Expiry == nil || c.Subject == "" {
		return errMalformed()
	}
	c.IssuedAt = nil
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: s.issuer, AnyAudience: jwt.Audience{audience}, Time: s.clock()}, clockSkew)
	switch {
	case err == nil && c.Expiry.Time().Sub(s.clock()) > maxExpiry:
		return unauthenticated("The token expires at %s, which is further off than any does; a clock was wrong. Get a new one from POST /oauth/access_token.", c.Expiry.Time().UTC().Format(time.RFC3339))
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrExpired):
		return unauthenticated("The token expired at %s; get a new one from POST /oauth/access_token.", c.Expiry.Time().UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return unauthenticated("The token has another issuer than %q; get one from POST /oauth/access_token.", s.issuer)
	case errors.Is(err, jwt.ErrInvalidAudience):
		return unauthenticated("The token is meant for another audience than %q; get one from POST /oauth/access_token.", audience)
	}
	return unauthenticated("The token is not valid yet; the clocks of the servers may differ.")
}

func errMalformed() *store.Error {
	return unauthenticated("The token is malformed; send the access_token of POST /oauth/access_token as it is, in the header Authorization: Bearer <token>.")
}

func (c claims) principal() *Principal {
	return &Principal{
		ClientID: c.Subject, Grant: c.Grant, Scopes: strings.Fields(c.Scope), Expires: c.Expiry.Time().UTC(),
		AccountID: c.AccountID, AccountTags: c.AccountTags, CustomerID: c.CustomerID,
	}
}

// verifiedTokens remembers tokens that were found good, by their SHA-256.
type verifiedTokens = *otter.Cache[[sha256.Size]byte, verifiedToken]

type verifiedToken struct {
	principal *Principal
	kid       string
}

// maxVerifiedTokens bounds how many tokens are remembered.
const maxVerifiedTokens = 10_000

func newVerifiedTokens() verifiedTokens {
	return otter.Must(&otter.Options[[sha256.Size]byte, verifiedToken]{MaximumSize: maxVerifiedTokens})
}

// cached finds a token that was good, unless it has expired or its key is
// gone since.
func (s *Service) cached(ctx context.Context, digest [sha256.Size]byte) (*Principal, bool) {
	token, ok := s.verified.GetIfPresent(digest)
	if !ok {
		return nil, false
	}
	_, known := s.keys.latest(ctx).public[token.kid]
	if left := token.principal.Expires.Sub(s.clock()); !known || left <= 0 || left > maxExpiry {
		s.verified.Invalidate(digest)
		return nil, false
	}
	return token.principal, true
}
