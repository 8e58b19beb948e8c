package rest

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"portico/graph/model"
	"portico/graph/opctx"
	"portico/graph/transport"
	"portico/internal/auth"
	"portico/internal/web"
	"portico/store"
)

// httpError is the status and title of an error code.
type httpError struct {
	status int
	title  string
}

// httpErrors has an entry for every store.Code.
var httpErrors = map[store.Code]httpError{
	store.Invalid:         {http.StatusBadRequest, "Bad Request"},
	store.Unauthenticated: {http.StatusUnauthorized, "Unauthorized"},
	store.Forbidden:       {http.StatusForbidden, "Forbidden"},
	store.NotFound:        {http.StatusNotFound, "Not Found"},
	store.Conflict:        {http.StatusConflict, "Conflict"},
	store.CursorMismatch:  {http.StatusBadRequest, "Bad Request"},
	store.CursorExpired:   {http.StatusGone, "Gone"},
	store.Unprocessable:   {http.StatusUnprocessableEntity, "Unprocessable Entity"},
	store.RateLimited:     {http.StatusTooManyRequests, "Too Many Requests"},
	store.Unavailable:     {http.StatusServiceUnavailable, "Service Unavailable"},
	store.Internal:        {http.StatusInternalServerError, "Internal server error"},
}

// catalogTitle is the title of unexpected errors under /catalog.
const catalogTitle = "There was a problem processing your request."

// isCatalogPath reports whether a path is under /catalog, where a status is a string and
// times have no zone.
func isCatalogPath(r *http.Request) bool { return web.FirstSegment(r.URL) == "catalog" }

// errorBody is one error. Detail is always set, because storefronts print it.
type errorBody struct {
	Status any    `json:"status"`
	Title  string `json:"title"`
	Detail string `json:"detail"`
}

// WriteError writes an error in the format of the path: /catalog, /v2 or GraphQL. It
// logs internal errors.
func (a *API) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	list := store.AsErrors(err)
	status := httpErrors[list[0].Code].status
	var given *auth.StatusError
	if errors.As(err, &given) {
		status = given.Status
	}
	var storeErr *store.Error // a store.Error was logged where it occurred
	if list[0].Code == store.Internal && !errors.As(err, &storeErr) {
		a.log.ErrorContext(r.Context(), "a request failed", "error", err, "path", r.URL.Path)
	}
	w.Header()["Cache-Control"] = opctx.NoStore
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", "Bearer")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if w.Header().Get("Retry-After") == "" {
			w.Header().Set("Retry-After", "1")
		}
	}
	if web.FirstSegment(r.URL) == "graphql" {
		transport.WriteErrors(w, status, list)
		return
	}
	body := struct {
		Errors      []errorBody `json:"errors"`
		TokenError  string      `json:"error,omitempty"` // token requests only (RFC 6749, section 5.2)
		Description string      `json:"error_description,omitempty"`
	}{}
	if refused := new(auth.TokenError); errors.As(err, &refused) {
		body.TokenError, body.Description = refused.Code, refused.Error()
	}
	for _, e := range list {
		body.Errors = append(body.Errors, newErrorBody(r, e, status))
	}
	writeJSON(w, status, store.Encode(body))
}

func newErrorBody(r *http.Request, e *store.Error, status int) errorBody {
	title := e.Title
	if title == "" {
		title = httpErrors[e.Code].title
		if known := httpErrors[e.Code].status; known != status {
			title = http.StatusText(status)
		}
		if isCatalogPath(r) && (e.Code == store.Unprocessable || e.Code == store.Internal) {
			title = catalogTitle
		}
	}
	body := errorBody{status, title, e.Sentence(memberName(e.Path))}
	if e.Code == store.Invalid && len(e.Path) > 0 && e.Path[0] == "filter" {
		body.Detail = e.Sentence("Could not parse the supplied filter: it")
	}
	if isCatalogPath(r) {
		body.Status = strconv.Itoa(status)
	}
	return body
}

// memberName is the path of a member as REST spells it: page[limit], page_length,
// changes.0.quantity.
func memberName(path []string) string {
	if len(path) == 1 {
		switch path[0] {
		case "first", "last":
			return "page[limit]"
		case "product_ids":
			return "data"
		case "idempotency_key":
			return "Idempotency-Key"
		case "offset", "after", "before":
			return "page[" + path[0] + "]"
		}
	}
	return strings.Join(path, ".")
}

// renameMembers replaces the first member in the paths of errors by the name that the
// request has.
func renameMembers(err error, names map[string]string) error {
	var list store.Errors
	if errors.As(err, new(store.Errors)) || errors.As(err, new(*store.Error)) {
		for _, e := range store.AsErrors(err) {
			if len(e.Path) > 0 && names[e.Path[0]] != "" {
				moved := *e
				moved.Path = append(strings.Split(names[e.Path[0]], "."), e.Path[1:]...)
				e = &moved
			}
			list = append(list, e)
		}
		return list
	}
	return err
}

// invalidParameter returns an INVALID error about a member as REST spells it.
func invalidParameter(name, format string, args ...any) error {
	return &store.Error{Code: store.Invalid, Path: []string{name}, Detail: fmt.Sprintf(format, args...)}
}

// userErrorsToError converts the user errors of a payload to an error. It returns nil if
// there are none.
func userErrorsToError(list []*model.UserError) error {
	if len(list) == 0 {
		return nil
	}
	errs := make(store.Errors, len(list))
	for i, e := range list {
		errs[i] = e.Error
	}
	return errs
}
