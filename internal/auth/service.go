// Package auth authenticates requests and checks scopes (docs/architecture.md, decision 8). Service issues and verifies
// tokens, PrincipalFrom returns the caller of a request, and Require checks its scope. It must not import the GraphQL
// and REST packages.
package auth

import (
	"context"
	"log/slog"
	"time"

	"portico/store/access"
	"portico/store/seal"
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
	access   *access.Service
	issuer   string
	clock    func() time.Time
	lifetime time.Duration
	keys     *keyring
	verified verifiedTokens
	oidc     *oidcVerifier // nil when no other issuer is trusted
	log      *slog.Logger

	anonymous *anonymousClient // nil unless AnswerAnonymously
	limit     Limit
}

// New returns a service that signs with the keys of the database, and creates the first key. The error is seal.ErrKey if
// they were sealed with another key. It does not contact the OIDC issuer.
func New(ctx context.Context, clients *access.Service, sealer *seal.Sealer, options Options) (*Service, error) {
	service := &Service{
		access: clients, issuer: options.Issuer, clock: options.Clock, lifetime: options.Lifetime,
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
	service.log = log
	var err error
	if options.OIDC != nil {
		if service.oidc, err = newOIDCVerifier(*options.OIDC, service.issuer, service.clock, log); err != nil {
			return nil, err
		}
	}
	if service.keys, err = newKeyring(ctx, clients, sealer, service.clock, log); err != nil {
		return nil, err
	}
	return service, nil
}

// JWKS returns the public keys as a JSON Web Key Set (RFC 7517), the newest first.
func (s *Service) JWKS() []byte { return s.keys.current.Load().jwks }
