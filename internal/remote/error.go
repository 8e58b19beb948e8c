package remote

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// HTTPError is the response of a server that refused a request.
type HTTPError struct {
	Request string // method, path and query
	Status  int
	Detail  string // from the response; empty if it has none
	Advice  string // what to do; a sentence

	retryAfter int // seconds; 0 if the server does not say
}

func (e *HTTPError) Error() string { return e.cause() + ". " + e.Advice }

// cause is the error without its Advice.
func (e *HTTPError) cause() string {
	text := fmt.Sprintf("%s: %d %s", e.Request, e.Status, http.StatusText(e.Status))
	if e.Detail != "" {
		text += fmt.Sprintf(" (%s)", strings.TrimRight(e.Detail, "."))
	}
	return text
}

// newHTTPError returns the error of a response. It is permanent unless the same request may succeed later.
func (c *apiClient) newHTTPError(name string, response *http.Response, body []byte) error {
	e := &HTTPError{Request: name, Status: response.StatusCode, Advice: "Is " + c.base.String() + " the base address of a commerce service?"}
	var sent struct {
		Errors []struct{ Title, Detail string }
	}
	if json.Unmarshal(body, &sent) == nil && len(sent.Errors) > 0 {
		e.Detail = abbreviate(c.redact(sent.Errors[0].Detail))
		if e.Detail == "" {
			e.Detail = abbreviate(c.redact(sent.Errors[0].Title))
		}
	}
	switch {
	case e.Status < 400:
		e.Advice = fmt.Sprintf("The server redirects to %q: use that address, if you trust it.", abbreviate(c.redact(response.Header.Get("Location"))))
	case e.Status == http.StatusUnauthorized:
		e.Advice = "The server does not accept the token. Check the client id and the secret."
	case e.Status == http.StatusForbidden:
		e.Advice = "The client may not read this. Give it the permission, or use another client."
	case e.Status == http.StatusRequestTimeout, e.Status == http.StatusTooManyRequests, e.Status >= 500:
		e.Advice = "The server did not recover in time. Run the command again later: it continues from here."
		e.retryAfter = parseRetryAfter(response.Header.Get("Retry-After"))
		return e
	}
	return permanent(e)
}

// connectionError is a request without a complete response.
type connectionError struct {
	request string
	err     error
}

func (e *connectionError) Error() string {
	return e.cause() + ". Check the address, or run the command again later: it continues from here"
}

// cause is the error without what to do.
func (e *connectionError) cause() string {
	first := e.err
	for inner := errors.Unwrap(first); inner != nil; inner = errors.Unwrap(first) { // net/url repeats the address
		first = inner
	}
	return fmt.Sprintf("%s: no complete response: %s", e.request, first)
}

func (e *connectionError) Unwrap() error { return e.err }

// cause returns why a request failed, for the notice of a retry: the advice in the error is for a failure that is final.
func cause(err error) string {
	if failed := (interface{ cause() string })(nil); errors.As(err, &failed) {
		return failed.cause()
	}
	return err.Error()
}

// status returns the HTTP status of an error; 0 for nil and for any other error.
func status(err error) int {
	if refused := (*HTTPError)(nil); errors.As(err, &refused) {
		return refused.Status
	}
	return 0
}

// isUnknown reports whether a server does not know what a request asks for, such as a sort or a filter.
func isUnknown(err error) bool {
	return status(err) == http.StatusBadRequest || status(err) == http.StatusUnprocessableEntity
}

// redact removes the secret and the token from what a server sent.
func (c *apiClient) redact(text string) string {
	for _, secret := range []string{c.credentials.Secret, c.token} {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// abbreviate returns the beginning of a text as one printable line.
func abbreviate(text string) string {
	const most = 200
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return ' '
	}, text)
}
