package auth

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"portico/internal/reqctx"
	"portico/store"
)

// WriteError answers a request with an error, in the surface's envelope. It
// minds *StatusError: 405 and 413 have no store.Code.
type WriteError func(w http.ResponseWriter, r *http.Request, err error)

// StatusError is an error whose HTTP status its code does not tell.
type StatusError struct {
	Status int
	Err    *store.Error
}

func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap gives the error in the caller's terms.
func (e *StatusError) Unwrap() error { return e.Err }

// TokenError is an error of a token request with its code of RFC 6749, 5.2,
// such as invalid_scope.
type TokenError struct {
	Code string
	Err  error
}

func (e *TokenError) Error() string { return e.Err.Error() }

// Unwrap gives the error in the caller's terms.
func (e *TokenError) Unwrap() error { return e.Err }

func invalidScope(format string, args ...any) error {
	return &TokenError{"invalid_scope", &store.Error{Code: store.Invalid, Path: []string{"scope"}, Detail: fmt.Sprintf(format, args...)}}
}

// tokenError gives the error of a token request its code, where RFC 6749 has
// one: for 400 and 401.
func tokenError(err error) error {
	code := ""
	given := new(StatusError)
	switch fault := store.AsErrors(err)[0]; {
	case errors.As(err, new(*TokenError)), errors.As(err, &given) && given.Status != http.StatusBadRequest:
		return err
	case fault.Code == store.Unauthenticated:
		code = "invalid_client"
	case fault.Code == store.Invalid && slices.Equal(fault.Path, []string{"grant_type"}):
		code = "unsupported_grant_type"
	case fault.Code == store.Invalid:
		code = "invalid_request"
	default:
		return err
	}
	return &TokenError{code, err}
}

// Middleware puts who is asking, or what is wrong with their token, on the
// context. It refuses nobody: Require does, where something needs a token.
func (s *Service) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := strings.TrimSpace(r.Header.Get("Authorization"))
		if header == "" {
			next.ServeHTTP(w, r)
			return
		}
		r, known := reqctx.Begin(r)
		if principal, err := s.caller(r.Context(), header); err != nil {
			known.Caller = failure{err}
		} else {
			known.Caller = principal
		}
		next.ServeHTTP(w, r)
	})
}

// caller is who asks by an Authorization header.
func (s *Service) caller(ctx context.Context, header string) (*Principal, error) {
	token, ok := bearer(header)
	if !ok {
		return nil, unauthenticated("The header Authorization must be of the form: Bearer <token>; get a token from POST /oauth/access_token.")
	}
	return s.Verify(ctx, token)
}

// bearer is the token of an Authorization header: "Bearer TOKEN" in any case
// and spacing, and "Bearer: TOKEN" as some clients write it.
func bearer(header string) (token string, ok bool) {
	const separators = ": \t"
	end := strings.IndexAny(header, separators)
	if end < 0 || !strings.EqualFold(header[:end], "Bearer") {
		return "", false
	}
	token = strings.Trim(header[end:], separators)
	return token, token != ""
}

// maxTokenRequest bounds the body of a token request, in bytes.
const maxTokenRequest = 16 << 10

// TokenHandler answers POST /oauth/access_token. The body is a form or JSON,
// whatever its Content-Type; the credentials may be HTTP Basic too.
func (s *Service) TokenHandler(writeError WriteError) http.Handler {
	return Allow(writeError, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		token, err := s.grant(w, r)
		if err != nil {
			writeError(w, r, tokenError(err))
			return
		}
		writeToken(w, token)
	}, http.MethodPost)
}

func (s *Service) grant(w http.ResponseWriter, r *http.Request) (*Token, error) {
	request, err := readTokenRequest(w, r)
	if err != nil {
		return nil, err
	}
	tried := "" // whose secret; a storefront's id is in every shopper's browser
	if request.GrantType == GrantClientCredentials {
		tried, _ = store.CanonicalID(request.ClientID)
	}
	if err := s.limit(r.Context(), tried); err != nil {
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

// writeToken answers flat, as the clients read it: wrapped in data, they
// would go on without a token.
func writeToken(w http.ResponseWriter, token *Token) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(store.Encode(struct { // a client that is gone needs no answer
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int64  `json:"expires_in"` // seconds
		Expires     int64  `json:"expires"`    // seconds since 1970
		Identifier  string `json:"identifier"`
		Scope       string `json:"scope"` // separated by spaces
	}{token.AccessToken, "Bearer", int64(token.Lifetime.Seconds()), token.Expires.Unix(), token.Grant, strings.Join(token.Scopes, " ")}))
}

// tokenRequest is what a client asks for a token with.
type tokenRequest struct {
	GrantType    string `json:"grant_type"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Scope        string `json:"scope"` // separated by spaces; empty for all that the client may have
}

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

// parseTokenRequest goes by the content, because clients label forms as JSON.
func parseTokenRequest(body []byte) (request tokenRequest, err error) {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	if bytes.HasPrefix(body, []byte("{")) {
		if err := store.CheckJSON(body); err != nil {
			return request, err
		}
		if store.DecodeJSON(body, &request) != nil {
			return request, invalid("The body is no JSON object with the strings grant_type, client_id, client_secret and scope.")
		}
		return request, nil
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return request, invalid("The body is neither a form nor a JSON object.")
	}
	for _, name := range []string{"grant_type", "client_id", "client_secret", "scope"} {
		if err := store.CheckText(form.Get(name), name); err != nil {
			return request, err
		}
	}
	return tokenRequest{form.Get("grant_type"), form.Get("client_id"), form.Get("client_secret"), form.Get("scope")}, nil
}

func invalid(format string, args ...any) *store.Error {
	return &store.Error{Code: store.Invalid, Detail: fmt.Sprintf(format, args...)}
}

// JWKSHandler answers GET /.well-known/jwks.json.
func (s *Service) JWKSHandler(writeError WriteError) http.Handler {
	return Allow(writeError, func(w http.ResponseWriter, r *http.Request) {
		s.keys.latest(r.Context())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Cache-Control", "public, max-age=300")
		_, _ = w.Write(s.JWKS()) // a client that is gone needs no answer
	}, http.MethodGet, http.MethodHead)
}

// Allow answers other methods with 405, and OPTIONS with what is allowed.
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
		writeError(w, r, &StatusError{http.StatusMethodNotAllowed, invalid("The method %s is not allowed here; use %s.", r.Method, allowed)})
	})
}
