package middleware

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// forwardedHeader lists the addresses that a request was forwarded for; each proxy appends one.
const forwardedHeader = "X-Forwarded-For"

// maxForwarded is the number of proxies that are followed.
const maxForwarded = 32

// ClientAddress sets the address that each request came from: the peer of the connection, or, if that is a trusted
// proxy, the address it forwards for. Of X-Forwarded-For it believes only what trusted proxies wrote, from
// the end on. Without trusted proxies it ignores the header, since anyone can send it. It also puts the response header
// on the request, in which RateLimit reports its limits.
func ClientAddress(trusted []netip.Prefix) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, req := reqctx.Begin(r)
			req.Address, req.ResponseHeader = clientAddress(r, trusted), w.Header()
			next.ServeHTTP(w, r)
		})
	}
}

// clientAddress returns the first address that is not a trusted proxy: the peer, else an element of X-Forwarded-For, read from its
// end. If all are proxies, or an element is not an address, it returns the last proxy that it read. The address is the invalid
// netip.Addr if the peer's is unknown.
func clientAddress(r *http.Request, trusted []netip.Prefix) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := peer.Addr().Unmap().WithZone("")
	if !web.ContainsAddress(trusted, at) {
		return at
	}
	hops := strings.Split(strings.Join(r.Header.Values(forwardedHeader), ","), ",")
	for _, hop := range slices.Backward(hops[max(0, len(hops)-maxForwarded):]) {
		next, ok := parseHop(hop)
		if !ok {
			return at
		}
		at = next
		if !web.ContainsAddress(trusted, at) {
			return at
		}
	}
	return at
}

// parseHop parses an address with or without a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	at, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return at.Unmap().WithZone(""), err == nil
}

// ParseProxies parses the values of --trusted-proxy: networks such as 10.0.0.0/8, and single addresses.
func ParseProxies(list []string) (prefixes []netip.Prefix, err error) {
	for _, text := range list {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			single, failure := netip.ParseAddr(text)
			if failure != nil {
				return nil, err
			}
			prefix = netip.PrefixFrom(single.Unmap(), single.Unmap().BitLen())
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes, nil
}
