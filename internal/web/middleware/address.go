package middleware

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"portico/internal/reqctx"
	"portico/internal/web"
)

// forwardedHeader is where proxies note whom they forward for, each behind
// what the one before it wrote.
const forwardedHeader = "X-Forwarded-For"

// maxForwarded bounds how many proxies are followed.
const maxForwarded = 32

// ClientAddress finds out where each request came from: the other end of the
// connection, and where that is a trusted proxy, whom it forwards for. The
// header is believed as far from its end as trusted proxies wrote it; without
// any it is not looked at, since anyone can send one.
func ClientAddress(trusted []netip.Prefix) web.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r, known := reqctx.Begin(r)
			known.Address, known.ResponseHeader = clientAddress(r, trusted), w.Header()
			next.ServeHTTP(w, r)
		})
	}
}

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
		if !ok { // as far as it is known
			return at
		}
		if at = next; !web.ContainsAddress(trusted, at) {
			return at
		}
	}
	return at
}

// parseHop reads an address, with or without a port.
func parseHop(text string) (netip.Addr, bool) {
	text = strings.TrimSpace(text)
	if at, err := netip.ParseAddrPort(text); err == nil {
		return at.Addr().Unmap().WithZone(""), true
	}
	at, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return at.Unmap().WithZone(""), err == nil
}

// ParseProxies reads what --trusted-proxy takes: networks such as 10.0.0.0/8,
// and single addresses.
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
