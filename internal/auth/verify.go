package auth

import (
	"context"
	"errors"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Verify returns the principal of a bearer token. It returns UNAUTHENTICATED for an invalid token; other errors mean that the
// database is not responding.
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

// checkRevoked returns UNAUTHENTICATED if the client of the token was revoked.
func (s *Service) checkRevoked(ctx context.Context, p *Principal) error {
	revoked, err := s.access.ClientRevoked(ctx, p.ClientID)
	if err == nil && revoked {
		return unauthenticated("The API client of the token was revoked.")
	}
	return err
}

// verifySignature checks the format and the signature of a token, and returns its claims and the id of the key.
func (s *Service) verifySignature(ctx context.Context, bearer string) (c claims, kid string, err error) {
	token, err := jwt.ParseSigned(bearer, []jose.SignatureAlgorithm{jose.EdDSA})
	if other := new(jose.ErrUnexpectedSignatureAlgorithm); errors.As(err, &other) {
		return c, "", unauthenticated("The token is not signed with EdDSA. Send a token from POST /oauth/access_token.")
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
		return c, "", unauthenticated("The token's signature is invalid. Get a new token from POST /oauth/access_token.")
	}
	if err != nil {
		return c, "", errMalformed()
	}
	return c, kid, nil
}

// checkClaims checks the claims of a token with a valid signature. It ignores iat, as RFC 7519 allows, so that a server whose
// clock is behind accepts tokens issued by others. It checks nbf, although our tokens have none.
func (s *Service) checkClaims(c claims) error {
	if c.Expiry == nil || c.Subject == "" {
		return errMalformed()
	}
	c.IssuedAt = nil
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: s.issuer, AnyAudience: jwt.Audience{audience}, Time: s.clock()}, clockSkew)
	switch {
	case err == nil && c.Expiry.Time().Sub(s.clock()) > maxExpiry:
		return unauthenticated("The token expires at %s, which is later than allowed. Get a new token from POST /oauth/access_token.", c.Expiry.Time().UTC().Format(time.RFC3339))
	case err == nil:
		return nil
	case errors.Is(err, jwt.ErrExpired):
		return unauthenticated("The token expired at %s. Get a new token from POST /oauth/access_token.", c.Expiry.Time().UTC().Format(time.RFC3339))
	case errors.Is(err, jwt.ErrInvalidIssuer):
		return unauthenticated("The issuer of the token must be %q. Get a token from POST /oauth/access_token.", s.issuer)
	case errors.Is(err, jwt.ErrInvalidAudience):
		return unauthenticated("The audience of the token must be %q. Get a token from POST /oauth/access_token.", audience)
	}
	return unauthenticated("The token is not valid yet. The clocks of the servers may differ.")
}
