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

// NormalizePath runs outside of the muxes that route requests. It rejects paths, query parameters and the named headers
// that are not UTF-8, and normalizes paths without redirects.
//
// It splits a path at its slashes before it decodes the segments, so that an encoded slash or dot is part of an id and
// never matches another route. It removes leading and trailing slashes, and repeated ones after the first segment, as
// they result from base URLs. A path with an empty segment elsewhere, or with . or .. as a segment in any encoding, is
// not found.
func NormalizePath(writeError func(http.ResponseWriter, *http.Request, error), headers ...string) web.Middleware {
	canonical := make([]string, len(headers))
	for i, name := range headers {
		canonical[i] = http.CanonicalHeaderKey(name)
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := checkText(r, headers, canonical); err != nil {
				writeError(w, r, err)
				return
			}
			canonicalURL, ok := CanonicalURL(r.URL)
			if !ok {
				writeError(w, r, &store.Error{Code: store.NotFound, Detail: "Not found: " + strconv.Quote(r.URL.EscapedPath()) +
					". A path segment must not be empty, . or .. or /."})
				return
			}
			if canonicalURL != r.URL {
				moved := *r
				moved.URL = canonicalURL
				r = &moved
			}
			next.ServeHTTP(w, r)
		})
	}
}

// CanonicalURL returns a URL with a path that a mux neither cleans nor redirects. ok is false if the path cannot
// exist.
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

// checkText returns INVALID for what is not UTF-8. A query that is not URL-encoded is left to its handler.
func checkText(r *http.Request, headers, canonical []string) error {
	if store.CheckText(r.URL.Path) != nil {
		return &store.Error{Code: store.Invalid, Detail: "The path is not valid UTF-8."}
	}
	for name, value := range queryParams(r.URL.RawQuery) {
		if store.CheckText(name) != nil || store.CheckText(value) != nil {
			return &store.Error{Code: store.Invalid, Detail: "The query parameter " + strconv.Quote(web.Truncate(name, web.MaxParamName)) + " is not valid UTF-8."}
		}
	}
	for i, name := range headers {
		for _, value := range r.Header[canonical[i]] {
			if store.CheckText(value) != nil {
				return &store.Error{Code: store.Invalid, Detail: "The header " + name + " is not valid UTF-8."}
			}
		}
	}
	return nil
}

// queryParams yields the names and values of a query, unless all are ASCII.
func queryParams(query string) func(yield func(string, string) bool) {
	return func(yield func(string, string) bool) {
		if isASCII(query) {
			return
		}
		for part := range strings.SplitSeq(query, "&") {
			rawName, rawValue, _ := strings.Cut(part, "=")
			name, nameErr := url.QueryUnescape(rawName)
			value, valueErr := url.QueryUnescape(rawValue)
			if nameErr == nil && valueErr == nil && !yield(name, value) {
				return
			}
		}
	}
}

// isASCII reports whether a query is ASCII after decoding.
func isASCII(query string) bool {
	for i := range len(query) {
		if query[i] >= 0x80 || query[i] == '%' && (i+1 == len(query) || query[i+1] > '7') {
			return false
		}
	}
	return true
}
