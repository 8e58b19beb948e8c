package auth

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"portico/internal/reqctx"
	"portico/store"
)

// Middleware sets the principal, or the error of the token, on the context. It rejects no request: Require does.
func (s *Service) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, req := reqctx.Begin(r)
		if req.Caller == nil { // else the cache in front has verified the token
			req.Caller = s.CallerOf(r)
		}
		next.ServeHTTP(w, r)
	})
}

// CallerOf returns who sent a request: a *Principal, the error of the token, or nil without a token.
func (s *Service) CallerOf(r *http.Request) any {
	header := strings.TrimSpace(r.Header.Get("Authorization"))
	if header == "" {
		return s.anonymous.callerOf(s, r)
	}
	principal, err := s.caller(r.Context(), header)
	if err != nil {
		return tokenError{err}
	}
	return principal
}

// caller verifies an Authorization header.
func (s *Service) caller(ctx context.Context, header string) (*Principal, error) {
	token, ok := parseBearer(header)
	if !ok {
		return nil, unauthenticated("The header Authorization must be Bearer <token>. Get a token from POST /oauth/access_token.")
	}
	return s.Verify(ctx, token)
}

// parseBearer returns the token of an Authorization header: "Bearer TOKEN" in any case and spacing, and "Bearer: TOKEN", which
// some clients send.
func parseBearer(header string) (token string, ok bool) {
	const separators = ": \t"
	end := strings.IndexAny(header, separators)
	if end < 0 || !strings.EqualFold(header[:end], "Bearer") {
		return "", false
	}
	token = strings.Trim(header[end:], separators)
	return token, token != ""
}

// maxTokenRequest limits the body of a token request, in bytes.
const maxTokenRequest = 16 << 10

// TokenHandler serves POST /oauth/access_token. The body is a form or JSON, whatever its Content-Type. Credentials may be
// sent as HTTP Basic too.
func (s *Service) TokenHandler(writeError WriteError) http.Handler {
	return Allow(writeError, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		token, err := s.grant(w, r)
		if err != nil {
			writeError(w, r, withTokenErrorCode(err))
			return
		}
		writeToken(w, token)
	}, http.MethodPost)
}

// grant issues the token that a request asks for, unless the rate limit is exceeded.
func (s *Service) grant(w http.ResponseWriter, r *http.Request) (*Token, error) {
	request, err := readTokenRequest(w, r)
	if err != nil {
		return nil, err
	}
	clientID := "" // only of requests with a secret: the ids of storefronts are public
	if request.GrantType == GrantClientCredentials {
		clientID, _ = store.CanonicalID(request.ClientID)
	}
	if err := s.limit(r.Context(), clientID); err != nil {
		return nil, err
	}
	switch request.GrantType {
	case GrantClientCredentials:
		return s.ClientCredentials(r.Context(), request.ClientID, request.ClientSecret, request.Scope)
	case GrantImplicit:
		return s.Implicit(r.Context(), request.ClientID, request.Scope)
	}
	return nil, &store.Error{Code: store.Invalid, Path: []string{"grant_type"},
		Detail: fmt.Sprintf("must be %s or %s, got %q", GrantClientCredentials, GrantImplicit, request.GrantType)}
}

// writeToken writes the token flat, without a data member, as RFC 6749 requires.
func writeToken(w http.ResponseWriter, token *Token) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(store.Encode(struct { // fails if the client is gone
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int64  `json:"expires_in"` // seconds
		Expires     int64  `json:"expires"`    // seconds since 1970
		Identifier  string `json:"identifier"`
		Scope       string `json:"scope"` // separated by spaces
	}{token.AccessToken, "Bearer", int64(token.Lifetime.Seconds()), token.Expires.Unix(), token.Grant, strings.Join(token.Scopes, " ")}))
}

// tokenRequest is the body of a token request.
type tokenRequest struct {
	GrantType    string `json:"grant_type"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Scope        string `json:"scope"` // separated by spaces; empty for all scopes of the client
}

// readTokenRequest reads the body, and takes the credentials from HTTP Basic if the body has no secret and no other client.
func readTokenRequest(w http.ResponseWriter, r *http.Request) (request tokenRequest, err error) {
	body, err := ReadBody(w, r, maxTokenRequest, nil)
	if err != nil {
		return request, err
	}
	if request, err = parseTokenRequest(body); err != nil {
		return request, err
	}
	if id, secret, ok := r.BasicAuth(); ok && request.ClientSecret == "" && (request.ClientID == "" || request.ClientID == id) {
		request.ClientID, request.ClientSecret = id, secret
	}
	return request, nil
}

// parseTokenRequest detects the format by content, because some clients label forms as JSON.
func parseTokenRequest(body []byte) (request tokenRequest, err error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if bytes.HasPrefix(body, []byte("{")) {
		if err := store.CheckJSON(body); err != nil {
			return request, err
		}
		if store.DecodeJSON(body, &request) != nil {
			return request, invalid("%s", store.NotJSON(body, "The body", "The body must be a JSON object with the strings grant_type, client_id, client_secret and scope."))
		}
		return request, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return request, invalid("The body must be a form or a JSON object.")
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if err := store.CheckText(form.Get(name), name); err != nil {
			return request, err
		}
	}
	return tokenRequest{form.Get("grant_type"), form.Get("client_id"), form.Get("client_secret"), form.Get("scope")}, nil
}

// JWKSHandler serves GET /.well-known/jwks.json.
func (s *Service) JWKSHandler(writeError WriteError) http.Handler {
	return Allow(writeError, func(w http.ResponseWriter, r *http.Request) {
		s.keys.latest(r.Context())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(s.JWKS()) // fails if the client is gone
	}, http.MethodGet, http.MethodHead)
}

// Allow writes 405 for other methods, and answers OPTIONS.
func Allow(writeError WriteError, handle http.HandlerFunc, methods ...string) http.Handler {
	allowed := strings.Join(methods, ", ") + ", OPTIONS"
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(methods, r.Method) {
			handle(w, r)
			return
		}
		w.Header().Set("Allow", allowed)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		writeError(w, r, &StatusError{http.StatusMethodNotAllowed, invalid("Method %s is not allowed here. Use %s.", r.Method, allowed)})
	})
}
