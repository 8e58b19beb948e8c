// Package problem writes errors as HTTP responses: Writer in the format of the path, WriteGraphQL as a GraphQL
// response. One table has the status and the title of each error code, for both APIs, the token endpoint, the pages and
// the admin listener. It must not import the GraphQL and REST packages.
package problem

import (
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"portico/internal/auth"
	"portico/internal/web"
	"portico/store"
)

// kind is the status and title of an error code.
type kind struct {
	status int
	title  string
}

// kinds has an entry for every store.Code.
var kinds = map[store.Code]kind{
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

// errorBody is one error. Detail is always set, because storefronts print it.
type errorBody struct {
	Status any          `json:"status"` // a string under /catalog, else a number
	Title  string       `json:"title"`
	Detail string       `json:"detail"`
	Code   string       `json:"code"` // as in GraphQL: the reason, else the store.Code
	Source *errorSource `json:"source,omitempty"`
}

// errorSource says which part of a REST request is at fault. It has one member, as JSON:API describes them.
type errorSource struct {
	Pointer   string `json:"pointer,omitempty"`   // of the body: /data/schema/percent
	Parameter string `json:"parameter,omitempty"` // of the query or the path: page[limit]
	Header    string `json:"header,omitempty"`
}

// Writer returns a function that writes an error in the format of the path: /catalog, /graphql or any other. It logs
// internal errors.
func Writer(log *slog.Logger) auth.WriteError {
	return func(w http.ResponseWriter, r *http.Request, err error) {
		list := store.AsErrors(err)
		status := kinds[list[0].Code].status
		var given *auth.StatusError
		if errors.As(err, &given) {
			status = given.Status
		}
		var storeErr *store.Error // a store.Error was logged where it occurred
		if list[0].Code == store.Internal && !errors.As(err, &storeErr) {
			log.ErrorContext(r.Context(), "a request failed", "error", err, "path", r.URL.Path)
		}
		w.Header().Set("Cache-Control", "no-store")
		switch status {
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			if w.Header().Get("Retry-After") == "" {
				w.Header().Set("Retry-After", "1")
			}
		}
		api := web.FirstSegment(r.URL)
		if api == "graphql" {
			WriteGraphQL(w, status, list)
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
			fault := newErrorBody(e, status, api == "catalog")
			if (api == "catalog" || api == "v2") && status != http.StatusNotFound { // which is about the path as a whole
				fault.Source = sourceOf(e.Path, r.Method)
			}
			body.Errors = append(body.Errors, fault)
		}
		write(w, status, store.Encode(body))
	}
}

// WriteGraphQL writes the response to a GraphQL request that has no operation to run.
func WriteGraphQL(w http.ResponseWriter, status int, list store.Errors) {
	type extensions struct {
		Code store.Code `json:"code"`
	}
	type graphQLError struct {
		Message    string     `json:"message"`
		Extensions extensions `json:"extensions"`
	}
	body := struct {
		Errors []graphQLError `json:"errors"`
	}{}
	for _, e := range list {
		body.Errors = append(body.Errors, graphQLError{e.Error(), extensions{e.Code}})
	}
	write(w, status, append(store.Encode(body), '\n'))
}

// write writes a response of JSON.
func write(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // an error means that the client is gone
}

// newErrorBody returns an error as REST shows it; catalog says that the path is under /catalog.
//
// The title is the error's own, else catalogTitle for unexpected errors under /catalog, else that of the code. If the status is
// not that of the code, as for a StatusError, it is that of the status.
func newErrorBody(e *store.Error, status int, catalog bool) errorBody {
	title := e.Title
	if title == "" {
		title = kinds[e.Code].title
		if kinds[e.Code].status != status {
			title = http.StatusText(status)
		}
		if catalog && (e.Code == store.Unprocessable || e.Code == store.Internal) {
			title = catalogTitle
		}
	}
	body := errorBody{Status: status, Title: title, Detail: e.Sentence(MemberName(e.Path)), Code: string(e.Code)}
	if e.Reason != "" {
		body.Code = string(e.Reason)
	}
	if e.Code == store.Invalid && len(e.Path) > 0 && e.Path[0] == "filter" {
		body.Detail = e.Sentence("Could not parse the supplied filter: it")
	}
	if catalog {
		body.Status = strconv.Itoa(status)
	}
	return body
}

// sourceOf returns the source of an error at a path, or nil for the request as a whole. Bodies of REST are below data.
func sourceOf(path []string, method string) *errorSource {
	if len(path) == 0 {
		return nil
	}
	name := MemberName(path[:1])
	switch {
	case name == "Idempotency-Key":
		return &errorSource{Header: name}
	case method == http.MethodGet || method == http.MethodHead || strings.HasPrefix(name, "page[") || slices.Contains([]string{"filter", "sort", "include"}, name):
		return &errorSource{Parameter: name}
	}
	pointer := ""
	if name != "data" {
		pointer = "/data"
	}
	for _, member := range append([]string{name}, path[1:]...) {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(member)
	}
	return &errorSource{Pointer: pointer}
}

// MemberName is the path of a member as REST spells it: page[limit], page_length, changes.0.quantity.
func MemberName(path []string) string {
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
