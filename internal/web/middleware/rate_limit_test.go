package middleware_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
	"portico/store"
)

// from calls use for a request from an address, and returns the headers and the text of the error.
// headers are pairs of name and value.
func from(address string, proxies []string, use func(context.Context) error, headers ...string) (answer http.Header, said error) {
	trusted, err := middleware.ParseProxies(proxies)
	if err != nil {
		panic(err)
	}
	handler := middleware.ClientAddress(trusted)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { said = use(r.Context()) }))
	w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = address
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	handler.ServeHTTP(w, r)
	return w.Header(), said
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	limit := middleware.NewRateLimit("asking", 3, 5)
	use := func(client string) func(context.Context) error {
		return func(ctx context.Context) error { return limit.Use(ctx, client) }
	}
	for range 3 {
		header, err := from("192.0.2.1:1", nil, use("a"))
		require.NoError(t, err)
		require.Empty(t, header.Get("Retry-After"))
		require.Equal(t, "3", header.Get("X-RateLimit-Limit"))
	}
	header, err := from("192.0.2.9:1", nil, use("a"))
	require.True(t, store.HasCode(err, store.RateLimited))
	require.EqualError(t, err, "Rate limit for asking exceeded by this client: at most 3 per minute. Retry in 20 seconds.")
	require.Equal(t, "20", header.Get("Retry-After"), "one of three comes back each 20 seconds")
	require.Equal(t, "0", header.Get("X-RateLimit-Remaining"))

	for range 2 {
		_, err = from("192.0.2.1:2", nil, use(""))
		require.NoError(t, err, "whichever client asks, the address has had 3 of 5")
	}
	header, err = from("192.0.2.1:3", nil, use("b"))
	require.ErrorContains(t, err, "by this address: at most 5 per minute")
	require.Equal(t, "12", header.Get("Retry-After"))
	_, err = from("192.0.2.2:3", nil, use("b"))
	require.NoError(t, err, "another address, another client")

	for i := range 5 {
		_, err = from(fmt.Sprintf("[2001:db8::%d]:1", i+1), nil, use(""))
		require.NoError(t, err)
	}
	_, err = from("[2001:db8::ffff]:1", nil, use(""))
	require.ErrorContains(t, err, "this address", "a host has a whole /64")
	_, err = from("[2001:db8:0:1::1]:1", nil, use(""))
	require.NoError(t, err)
	_, err = from("[::ffff:192.0.2.1]:1", nil, use(""))
	require.ErrorContains(t, err, "this address", "IPv4 in IPv6's clothes")
}

// TestRateLimitUsesMonotonicClock changes the wall clock, which must not change how long callers
// are refused.
func TestRateLimitUsesMonotonicClock(t *testing.T) {
	t.Parallel()
	require.Contains(t, middleware.Steady().String(), " m=", "a reading that is only of the wall clock is set with it")
	synctest.Test(t, func(t *testing.T) {
		limit := middleware.NewRateLimit("asking", 2, 0)
		use := func() error { return limit.Use(t.Context(), "a") }
		for range 3 {
			require.NoError(t, use())
			require.NoError(t, use())
			require.True(t, store.HasCode(use(), store.RateLimited))
			time.Sleep(29 * time.Second)
			require.True(t, store.HasCode(use(), store.RateLimited), "one of two comes back each 30 seconds")
			time.Sleep(time.Second)
			require.NoError(t, use())
			require.True(t, store.HasCode(use(), store.RateLimited))
			time.Sleep(time.Minute)
		}
	})
}

func TestRateLimitDisabled(t *testing.T) {
	t.Parallel()
	limit := middleware.NewRateLimit("asking", 0, 0)
	for range 1000 {
		header, err := from("192.0.2.1:1", nil, func(ctx context.Context) error { return limit.Use(ctx, "a") })
		require.NoError(t, err)
		require.Empty(t, header)
	}
	require.NoError(t, middleware.NewRateLimit("asking", 1, 1).Use(t.Context(), ""), "nobody in particular from nowhere")
}

// TestRateLimitMemoryIsBounded requires bounded memory for any number of callers.
func TestRateLimitMemoryIsBounded(t *testing.T) {
	limit := middleware.NewRateLimit("asking", 1_000_000, 0)
	used := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	fill := func(begin int) {
		for i := range 300_000 {
			require.NoError(t, limit.Use(t.Context(), fmt.Sprint("client-", begin+i)))
		}
	}
	fill(0)
	before := used()
	fill(300_000)
	fill(600_000)
	require.Less(t, int64(used())-int64(before), int64(4<<20), "as many again take no more")
	runtime.KeepAlive(limit)
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	proxies := []string{"10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.7"}
	const header = "X-Forwarded-For"
	for _, test := range []struct {
		name    string
		remote  string
		proxies []string
		headers []string
		want    string // counted address
	}{
		{"a connection", "198.51.100.1:5", proxies, nil, "198.51.100.1"},
		{"anyone can claim", "198.51.100.1:5", proxies, []string{header, "203.0.113.1"}, "198.51.100.1"},
		{"no proxy is trusted by default", "10.1.2.3:5", nil, []string{header, "203.0.113.1"}, "10.1.2.3"},
		{"a proxy", "10.1.2.3:5", proxies, []string{header, "203.0.113.1"}, "203.0.113.1"},
		{"a proxy by its address", "192.0.2.7:5", proxies, []string{header, "203.0.113.1"}, "203.0.113.1"},
		{"a proxy in IPv6's clothes", "[::ffff:10.1.2.3]:5", proxies, []string{header, "203.0.113.1"}, "203.0.113.1"},
		{"a proxy of IPv6", "[2001:db8:ffff::1]:5", proxies, []string{header, "203.0.113.1"}, "203.0.113.1"},
		{"two proxies", "10.1.2.3:5", proxies, []string{header, "203.0.113.1, 10.9.9.9"}, "203.0.113.1"},
		{"what the client claimed before", "10.1.2.3:5", proxies, []string{header, "1.1.1.1, 203.0.113.1,10.9.9.9"}, "203.0.113.1"},
		{"two headers", "10.1.2.3:5", proxies, []string{header, "1.1.1.1", header, "203.0.113.1"}, "203.0.113.1"},
		{"with a port", "10.1.2.3:5", proxies, []string{header, "203.0.113.1:4711"}, "203.0.113.1"},
		{"IPv6 with a port", "10.1.2.3:5", proxies, []string{header, "[2001:db8::1]:4711"}, "2001:db8::"},
		{"IPv6 in brackets", "10.1.2.3:5", proxies, []string{header, "[2001:db8::1]"}, "2001:db8::"},
		{"rubbish", "10.1.2.3:5", proxies, []string{header, "203.0.113.1, unknown"}, "10.1.2.3"},
		{"rubbish behind a proxy", "10.1.2.3:5", proxies, []string{header, "x, 10.9.9.9"}, "10.9.9.9"},
		{"no header", "10.1.2.3:5", proxies, nil, "10.1.2.3"},
		{"only proxies", "10.1.2.3:5", proxies, []string{header, "10.0.0.1"}, "10.0.0.1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			limit := middleware.NewRateLimit("asking", 0, 1)
			use := func(ctx context.Context) error { return limit.Use(ctx, "") }
			want := netip.MustParseAddr(test.want)
			_, err := from(netip.AddrPortFrom(want, 1).String(), nil, use)
			require.NoError(t, err)
			_, err = from(test.remote, test.proxies, use, test.headers...)
			require.True(t, store.HasCode(err, store.RateLimited), "it was not counted as %s", test.want)
		})
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	list, err := middleware.ParseProxies([]string{"10.1.2.3/8", "192.0.2.7", "2001:db8::/32", "::1"})
	require.NoError(t, err)
	require.Equal(t, "[10.0.0.0/8 192.0.2.7/32 2001:db8::/32 ::1/128]", fmt.Sprint(list))
	for _, bad := range []string{"", "proxy.example", "10.0.0.0/33", "10.0.0.0/"} {
		_, err := middleware.ParseProxies([]string{bad})
		require.Error(t, err, bad)
	}
}
