package auth

import (
	"context"
	"net/http"
	"sync"
	"time"

	"portico/store"
)

// TokenWatch is a token that a connection is held open by: it must be good for as
// long as that.
type TokenWatch struct {
	service *Service
	bearer  string
	expires time.Time

	mu      sync.Mutex
	version int64     // store.TokensVersion when it was last found good
	checked time.Time // when that was
}

// recheckInterval is how long a token is believed to be good though nothing is
// known to have changed.
const recheckInterval = 15 * time.Second

// Authenticate puts who asks by an Authorization header on the context, or what is
// wrong with their token, as Middleware does; err is that. held is nil without
// a good token.
func (s *Service) Authenticate(ctx context.Context, header string) (admitted context.Context, held *TokenWatch, err error) {
	version := s.store.TokensVersion() // before it is verified
	principal, err := s.caller(ctx, header)
	if err != nil {
		return WithTokenError(ctx, err), nil, err
	}
	token, _ := parseBearer(header)
	return WithPrincipal(ctx, principal), &TokenWatch{service: s, bearer: token, expires: principal.Expires, version: version, checked: s.clock()}, nil
}

// Watch holds on to the token of a request that Middleware found good; nil
// without one.
func (s *Service) Watch(r *http.Request) *TokenWatch {
	header := r.Header.Get("Authorization")
	token, ok := parseBearer(header)
	if principal := PrincipalFrom(r.Context()); ok && principal != nil {
		return &TokenWatch{service: s, bearer: token, expires: principal.Expires} // to be checked at once
	}
	return nil
}

// Check is UNAUTHENTICATED once the token is good no longer: it has expired,
// its client was revoked, or its key taken away. While nothing of that changed
// it costs two comparisons.
func (h *TokenWatch) Check(ctx context.Context) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	version, now := h.service.store.TokensVersion(), h.service.clock()
	if version == h.version && now.Before(h.expires) && now.Sub(h.checked) < recheckInterval {
		return nil
	}
	_, err := h.service.Verify(ctx, h.bearer)
	if err == nil {
		h.version, h.checked = version, now
	}
	if !store.HasCode(err, store.Unauthenticated) { // the database, or an issuer, does not answer
		return nil
	}
	return err
}

// Expired tells whether the token's time is over, so that another of the same
// client may do.
func (h *TokenWatch) Expired() bool { return !h.service.clock().Before(h.expires) }
