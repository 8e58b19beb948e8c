// Package auth says who is asking and what they may do: scopes, principals,
// and the tokens that carry them (DESIGN 8).
package auth

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"portico/internal/reqctx"
	"portico/store"
)

// Principal is who a good token speaks for. Requests share it; nobody writes
// to it.
type Principal struct {
	ClientID string   // of an outside issuer's token it begins with "oidc:", as no client of ours does
	Grant    string   // how the token was got: client_credentials, implicit, shopper or oidc
	Scopes   []string // what it may do
	Expires  time.Time

	// Whom the token was minted for; empty when for no shopper in particular.
	AccountID   string
	AccountTags []string
	CustomerID  string
}

// Actor names the principal in what it writes.
func (p *Principal) Actor() store.Actor { return store.Actor("client:" + p.ClientID) }

// Share is the client whose share of what all clients have the principal uses. It
// is empty where nobody showed the client's secret, so that anybody can use its
// id: then the share is the address's.
func (p *Principal) Share() (clientID string) {
	if p == nil || p.Grant == GrantImplicit || p.Grant == GrantShopper {
		return ""
	}
	return p.ClientID
}

// Holds tells whether the principal has a scope.
func (p *Principal) Holds(scope string) bool { return slices.Contains(p.Scopes, scope) }

type callerKey struct{}

// failure is what is wrong with a token.
type failure struct{ error }

// caller is what the middleware learnt from a request: a *Principal, a failure
// or, without a token, nil.
func caller(ctx context.Context) any {
	if given := ctx.Value(callerKey{}); given != nil {
		return given
	}
	if known := reqctx.From(ctx); known != nil {
		return known.Caller
	}
	return nil
}

// WithPrincipal puts who is asking on the context.
func WithPrincipal(ctx context.Context, p *Principal) context.Context {
	return context.WithValue(ctx, callerKey{}, p)
}

// WithFailure remembers why a token is no good. Require says so when
// something needs a token, and only then.
func WithFailure(ctx context.Context, err error) context.Context {
	return context.WithValue(ctx, callerKey{}, failure{err})
}

// From is who is asking; nil when there is no token, or no good one.
func From(ctx context.Context) *Principal {
	p, _ := caller(ctx).(*Principal)
	return p
}

// Authenticated tells whether there is a good token, whatever its scopes: nil
// if so, else UNAUTHENTICATED or what WithFailure remembered.
func Authenticated(ctx context.Context) error {
	switch c := caller(ctx).(type) {
	case failure:
		return c.error
	case nil:
		return unauthenticated("Send the header Authorization: Bearer <token>; get a token from POST /oauth/access_token.")
	}
	return nil
}

// Require tells whether whoever is asking may use a coordinate of the table:
// nil if they may. UNAUTHENTICATED, or what WithFailure remembered, without a
// good token; FORBIDDEN when its scopes do not suffice; INTERNAL for an
// undeclared coordinate, whoever asks.
func Require(ctx context.Context, coordinate string) error {
	scope, declared := Scope(coordinate)
	if !declared {
		return fmt.Errorf("the scope table has no coordinate %q, so nobody may use it", coordinate)
	}
	if scope == public {
		return nil
	}
	if err := Authenticated(ctx); err != nil {
		return err
	}
	if p := From(ctx); scope != AnyScope && !p.Holds(scope) {
		return forbidden(scope, p.Scopes)
	}
	return nil
}

func unauthenticated(format string, args ...any) *store.Error {
	return &store.Error{Code: store.Unauthenticated, Detail: fmt.Sprintf(format, args...)}
}

func forbidden(missing string, held []string) *store.Error {
	has := "no scope at all"
	if len(held) > 0 {
		has = strings.Join(held, " ")
	}
	return &store.Error{Code: store.Forbidden, Detail: fmt.Sprintf("This needs the scope %s; the token has %s.", missing, has)}
}

// ClientID is the API client that asks, for the log and the metrics; empty for
// nobody.
func ClientID(ctx context.Context) string {
	if principal := From(ctx); principal != nil {
		return principal.ClientID
	}
	return ""
}
