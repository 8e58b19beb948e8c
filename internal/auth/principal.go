package auth

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"time"

	"portico/internal/cachekey"
	"portico/internal/reqctx"
	"portico/store"
)

// The grants of POST /oauth/access_token.
const (
	GrantClientCredentials = "client_credentials" // a client that shows its secret: all its scopes
	GrantImplicit          = "implicit"           // a storefront without a secret: reading only
	GrantShopper           = "shopper"            // minted for a shopper, by a client that may

	grantAnonymous = "anonymous" // no token; reading catalogs only (AnswerAnonymously)
)

// Principal is the client, or the shopper, that a valid token stands for. Requests share it; it must not be changed.
type Principal struct {
	ClientID string // begins with "oidc:" for a token of the OIDC issuer
	Grant    string // client_credentials, implicit, shopper, oidc or anonymous
	Scopes   []string
	Expires  time.Time // zero for anonymous

	// The shopper that the token was issued for, if any.
	AccountID   string
	AccountTags []string
	CustomerID  string
}

// Actor returns the name under which writes are recorded.
func (p *Principal) Actor() store.Actor { return store.Actor("client:" + p.ClientID) }

// QuotaClientID returns the client whose quota a request counts against. It is empty for tokens that anyone can get
// without the client's secret; these count against the address.
func (p *Principal) QuotaClientID() (clientID string) {
	if p == nil || p.Grant == GrantImplicit || p.Grant == GrantShopper || p.Grant == grantAnonymous {
		return ""
	}
	return p.ClientID
}

// HasShopper reports whether the token was issued for a shopper with an account, account tags or a customer.
func (p *Principal) HasShopper() bool {
	return p.AccountID != "" || len(p.AccountTags) > 0 || p.CustomerID != ""
}

// AppendRights appends what decides which responses the principal gets: not the client or the token, but what
// they may do, and the shopper. Principals that differ in it have different bytes.
func (p *Principal) AppendRights(dst []byte) []byte {
	if p.Grant == grantAnonymous {
		dst = append(dst, 'a')
	} else {
		dst = append(dst, 'p')
	}
	for _, list := range [...][]string{p.Scopes, p.AccountTags} {
		dst = binary.AppendUvarint(dst, uint64(len(list)))
		for _, text := range list {
			dst = cachekey.AppendPart(dst, text)
		}
	}
	return cachekey.AppendPart(cachekey.AppendPart(dst, p.AccountID), p.CustomerID)
}

// HasScope reports whether the principal has a scope.
func (p *Principal) HasScope(scope string) bool { return slices.Contains(p.Scopes, scope) }

// principalKey is the context key of WithPrincipal and WithTokenError, for callers without a request of their own.
type principalKey struct{}

// tokenError is the reason why a token is invalid.
type tokenError struct{ error }

// callerOf returns what the middleware found: a *Principal, a tokenError or, without a token, nil.
func callerOf(ctx context.Context) any {
	if value := ctx.Value(principalKey{}); value != nil {
		return value
	}
	if req := reqctx.From(ctx); req != nil {
		return req.Caller
	}
	return nil
}

// WithPrincipal returns a context with a principal.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// WithTokenError returns a context with the reason why a token is invalid. Require returns it where a token is needed.
func WithTokenError(ctx context.Context, err error) context.Context {
	return context.WithValue(ctx, principalKey{}, tokenError{err})
}

// PrincipalFrom returns the principal of a request; nil without a valid token. With AnswerAnonymously, requests that may
// read catalogs without one have a principal too.
func PrincipalFrom(ctx context.Context) *Principal {
	p, _ := callerOf(ctx).(*Principal)
	return p
}

// RequireToken returns nil with a valid token of any scopes, else UNAUTHENTICATED or the error of WithTokenError.
func RequireToken(ctx context.Context) error {
	switch c := callerOf(ctx).(type) {
	case tokenError:
		return c.error
	case nil:
		return errNoToken()
	case *Principal:
		if c.Grant == grantAnonymous {
			return errNoToken()
		}
	}
	return nil
}

func errNoToken() *store.Error {
	return unauthenticated("Send the header Authorization: Bearer <token>. Get a token from POST /oauth/access_token.")
}

// Require returns nil if the caller may use a coordinate of the scope table. Without a valid token it returns
// UNAUTHENTICATED or the error of WithTokenError, without the scope FORBIDDEN, and for an unknown coordinate INTERNAL.
func Require(ctx context.Context, coordinate string) error {
	scope, declared := Scope(coordinate)
	if !declared {
		return fmt.Errorf("the scope table has no coordinate %q, so nobody may use it", coordinate)
	}
	if scope == noScope {
		return nil
	}
	if err := RequireToken(ctx); err != nil {
		if isAnonymousRead(ctx, coordinate, scope) {
			return nil
		}
		return err
	}
	if p := PrincipalFrom(ctx); scope != AnyScope && !p.HasScope(scope) {
		return forbidden(scope, p.Scopes, shopperFields[coordinate])
	}
	return nil
}

// anonymousScope is all that requests without a token may do.
const anonymousScope = "catalog:read"

// isAnonymousRead reports whether a request without a token may use a coordinate with a scope.
func isAnonymousRead(ctx context.Context, coordinate, scope string) bool {
	p := PrincipalFrom(ctx)
	return p != nil && p.Grant == grantAnonymous && scope == anonymousScope &&
		(strings.HasPrefix(coordinate, "GET ") || strings.HasPrefix(coordinate, "Query."))
}

// ClientID returns the id of the API client, for logs and metrics; empty without a valid token.
func ClientID(ctx context.Context) string {
	if principal := PrincipalFrom(ctx); principal != nil {
		return principal.ClientID
	}
	return ""
}
