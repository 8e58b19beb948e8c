package auth

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"portico/store"
)

// WriteError writes an error in the format of the API. It must respect the status of *StatusError.
type WriteError func(w http.ResponseWriter, r *http.Request, err error)

// StatusError is an error with an HTTP status that its code does not imply, such as 405.
type StatusError struct {
	Status int
	Err    *store.Error
}

func (e *StatusError) Error() string { return e.Err.Error() }

// Unwrap returns the store error.
func (e *StatusError) Unwrap() error { return e.Err }

// TokenError is an error of a token request with its code by RFC 6749, 5.2, such as invalid_scope.
type TokenError struct {
	Code string
	Err  error
}

func (e *TokenError) Error() string { return e.Err.Error() }

// Unwrap returns the store error.
func (e *TokenError) Unwrap() error { return e.Err }

func invalidScope(format string, args ...any) error {
	return &TokenError{"invalid_scope", &store.Error{Code: store.Invalid, Path: []string{"scope"}, Detail: fmt.Sprintf(format, args...)}}
}

// withTokenErrorCode adds the code of RFC 6749, which exists for 400 and 401, to the error of a token request.
func withTokenErrorCode(err error) error {
	code := ""
	status := new(StatusError)
	switch first := store.AsErrors(err)[0]; {
	case errors.As(err, new(*TokenError)), errors.As(err, &status) && status.Status != http.StatusBadRequest:
		return err
	case first.Code == store.Unauthenticated:
		code = "invalid_client"
	case first.Code == store.Invalid && slices.Equal(first.Path, []string{"grant_type"}):
		code = "unsupported_grant_type"
	case first.Code == store.Invalid:
		code = "invalid_request"
	default:
		return err
	}
	return &TokenError{code, err}
}

func invalid(format string, args ...any) *store.Error {
	return &store.Error{Code: store.Invalid, Detail: fmt.Sprintf(format, args...)}
}

func unauthenticated(format string, args ...any) *store.Error {
	return &store.Error{Code: store.Unauthenticated, Detail: fmt.Sprintf(format, args...)}
}

// forbidden returns the error of a token without a scope. instead is the field that a storefront uses, or "".
func forbidden(missing string, held []string, instead string) *store.Error {
	has := "no scope at all"
	if len(held) > 0 {
		has = strings.Join(held, " ")
	}
	detail := fmt.Sprintf("This needs the scope %s; the token has %s.", missing, has)
	if instead != "" {
		detail += " Storefronts use " + instead + "."
	}
	return &store.Error{Code: store.Forbidden, Detail: detail}
}

func errMalformed() *store.Error {
	return unauthenticated("The token is malformed. Send the access_token of POST /oauth/access_token unchanged, in the header Authorization: Bearer <token>.")
}
