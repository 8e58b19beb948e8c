package middleware

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"portico/internal/web"
	"portico/store"
)

// NormalizePath stands in front of every mux that routes to the surfaces. It
// refuses what is no text, in the path, the query or one of the headers named,
// and has the mux see a path that it neither cleans nor redirects.
//
// A path is split at its slashes first, and its segments decoded after; then
// nothing is cleaned. So a slash or a dot that is encoded is part of an id, and
// names no other route. A path may begin and end in slashes, and have several
// behind its first word, as base URLs bring them. There is no path with . or ..
// for a segment, however it is written, and none with an empty segment, which
// would be an id that was forgotten.
func NormalizePath(writeError func(http.ResponseWriter, *http.Request, error), headers ...string) web.Middleware {
	canonical := make([]string, len(headers)) // as net/http keeps them
	for i, name := range headers {
		canonical[i] = http.CanonicalHeaderKey(name)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := checkText(r, headers, canonical); err != nil {
				writeError(w, r, err)
				return
			}
			at, ok := CanonicalURL(r.URL)
			if !ok {
				writeError(w, r, &store.Error{Code: store.NotFound, Detail: "There is no " + strconv.Quote(r.URL.EscapedPath()) +
					" here: a segment of a path is neither empty nor . nor .. nor /."})
				return
			}
			if at != r.URL {
				moved := *r
				moved.URL = at
				r = &moved
			}
			next.ServeHTTP(w, r)
		})
	}
}

// CanonicalURL is a URL whose path a mux takes as it is. ok is false where there
// can be nothing.
func CanonicalURL(u *url.URL) (canonical *url.URL, ok bool) {
	if u.RawPath == "" && strings.HasPrefix(u.Path, "/") && !strings.Contains(u.Path, "//") && !strings.Contains(u.Path, "/.") &&
		(u.Path == "/" || !strings.HasSuffix(u.Path, "/")) {
		return u, true
	}
	moved := *u
	moved.Path, moved.RawPath = "/", ""
	var raw, decoded []string
	if inner := strings.Trim(u.EscapedPath(), "/"); inner != "" {
		for segment := range strings.SplitSeq(inner, "/") {
			if segment == "" && len(raw) == 1 {
				continue
			}
			text, err := url.PathUnescape(segment)
			if err != nil || slices.Contains([]string{"", ".", "..", "/"}, text) {
				return nil, false
			}
			raw, decoded = append(raw, segment), append(decoded, text)
		}
		moved.Path, moved.RawPath = "/"+strings.Join(decoded, "/"), "/"+strings.Join(raw, "/")
	}
	return &moved, true
}

// checkText is INVALID for what is no text. A query that is not URL-encoded
// is left to whoever reads it.
func checkText(r *http.Request, headers, canonical []string) error {
	if store.CheckText(r.URL.Path) != nil {
		return &store.Error{Code: store.Invalid, Detail: "The path is not valid UTF-8; encode it as UTF-8."}
	}
	for name, value := range queryParams(r.URL.RawQuery) {
		if store.CheckText(name) != nil || store.CheckText(value) != nil {
			return &store.Error{Code: store.Invalid, Detail: "The query's parameter " + strconv.Quote(web.Truncate(name, web.MaxParamName)) + " is not valid UTF-8; encode it as UTF-8."}
		}
	}
	for i, name := range headers {
		for _, value := range r.Header[canonical[i]] {
			if store.CheckText(value) != nil {
				return &store.Error{Code: store.Invalid, Detail: "The header " + name + " is not valid UTF-8; encode it as UTF-8."}
			}
		}
	}
	return nil
}

// queryParams are the names and values of a query that could be no text.
func queryParams(query string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		if isASCII(query) {
			return
		}
		for part := range strings.SplitSeq(query, "&") {
			rawName, rawValue, _ := strings.Cut(part, "=")
			name, bad := url.QueryUnescape(rawName)
			value, worse := url.QueryUnescape(rawValue)
			if bad == nil && worse == nil && !yield(name, value) {
				return
			}
		}
	}
}

// isASCII tells whether a query is ASCII, encoded or not: its escapes stand
// for less than 0x80.
func isASCII(query string) bool {
	for i := range len(query) {
		if query[i] >= 0x80 || query[i] == '%' && (i+1 == len(query) || query[i+1] > '7') {
			return false
		}
	}
	return true
}
