package auth

import (
	"context"
	"net/http"
	"sync"
	"time"

	"portico/store"
)

// TokenWatch checks the token of a long-lived connection again and again.
type TokenWatch struct {
	service *Service
	bearer  string
	expires time.Time

	mu      sync.Mutex
	version int64     // of access.Service.TokensVersion at the last check
	checked time.Time // zero before the first check
}

// recheckInterval is how long a token is taken as valid if no change is known.
const recheckInterval = 15 * time.Second

// Authenticate verifies an Authorization header and returns a context with the principal, or with the error, as Middleware
// does. watch is nil without a valid token.
func (s *Service) Authenticate(ctx context.Context, header string) (admitted context.Context, watch *TokenWatch, err error) {
	version := s.access.TokensVersion() // before it is verified
	principal, err := s.caller(ctx, header)
	if err != nil {
		return WithTokenError(ctx, err), nil, err
	}
	token, _ := parseBearer(header)
	return WithPrincipal(ctx, principal), &TokenWatch{service: s, bearer: token, expires: principal.Expires, version: version, checked: s.clock()}, nil
}

// Watch watches the token of a request that Middleware found valid; nil without one.
func (s *Service) Watch(r *http.Request) *TokenWatch {
	header := r.Header.Get("Authorization")
	token, ok := parseBearer(header)
	if principal := PrincipalFrom(r.Context()); ok && principal != nil {
		return &TokenWatch{service: s, bearer: token, expires: principal.Expires} // checked at the first call of Check
	}
	return nil
}

// Check returns UNAUTHENTICATED once the token has expired, its client was revoked, or its key was removed. It returns nil while
// that is unknown, because the database or the issuer is not responding. It is cheap while nothing has changed.
func (w *TokenWatch) Check(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	version, now := w.service.access.TokensVersion(), w.service.clock()
	if version == w.version && now.Before(w.expires) && now.Sub(w.checked) < recheckInterval {
		return nil
	}
	_, err := w.service.Verify(ctx, w.bearer)
	if err == nil {
		w.version, w.checked = version, now
	}
	if !store.HasCode(err, store.Unauthenticated) { // the database or the issuer is not responding
		return nil
	}
	return err
}

// Expired reports whether the token has expired.
func (w *TokenWatch) Expired() bool { return !w.service.clock().Before(w.expires) }
