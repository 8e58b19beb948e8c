package web

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"portico/internal/reqctx"
)

// Paths of the health checks, which limits and logs treat apart.
const (
	HealthPath = "/healthz"
	ReadyPath  = "/readyz"
)

// IsHealthCheck reports whether a path is HealthPath or ReadyPath.
func IsHealthCheck(path string) bool { return path == HealthPath || path == ReadyPath }

// FirstSegment returns the first segment of a path, decoded: catalog, v2, graphql.
func FirstSegment(u *url.URL) string {
	first, _, _ := strings.Cut(strings.TrimLeft(u.EscapedPath(), "/"), "/")
	first, _ = url.PathUnescape(first) // an escaped path is well-formed
	return first
}

// RouteLabel returns the path of a mux pattern, for logs and metrics: "unmatched" if it is empty.
func RouteLabel(pattern string) string { return cmp.Or(reqctx.RoutePath(pattern), "unmatched") }

// MaxParamName is the number of bytes that logs and errors show of a query parameter's name.
const MaxParamName = 40

// Truncate shortens text to limit bytes and appends "…" if it was longer.
func Truncate(text string, limit int) string {
	if len(text) > limit {
		return strings.ToValidUTF8(text[:limit], "") + "…"
	}
	return text
}

// IsToken reports whether a byte can stand in logs and headers without escaping: A-Z, a-z, 0-9, '.', '_' or '-'.
func IsToken(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
}

// ContainsAddress reports whether one of the networks contains the address.
func ContainsAddress(networks []netip.Prefix, address netip.Addr) bool {
	return slices.ContainsFunc(networks, func(network netip.Prefix) bool { return network.Contains(address) })
}
