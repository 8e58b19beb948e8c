package app

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/responsecache"
)

// TestHeadersShareNoWrongResponse sends requests that the front cache answers with each of many headers besides, and requires what a
// server without caches answers to the same.
func TestHeadersShareNoWrongResponse(t *testing.T) {
	t.Parallel()
	h := newDemoServer(t, "--cors-origin", "https://shop.example")
	bare := *h.app
	bare.responses = responsecache.NewCache(0)
	front, plain := h.front.Middleware(h.handler), bare.handler()
	send := func(handler http.Handler, request testRequest, headers http.Header) *httptest.ResponseRecorder {
		r, w := h.request(t.Context(), request), httptest.NewRecorder()
		maps.Copy(r.Header, headers)
		handler.ServeHTTP(w, r)
		w.Header().Del("X-Request-Id")
		w.Header().Del("Content-Length") // where a short body is compressed on its way
		return w
	}
	hits := func() uint64 { return h.responses.Stats().Hits }
	long := strings.Repeat("x", 5000)
	var hostile []http.Header
	for name, values := range map[string][]string{
		"Accept": {"text/event-stream", "application/graphql-response+json", "*/*"}, "Accept-Language": {"de", "\xff", long}, "Accept-Encoding": {"gzip", "zstd", "identity;q=0"},
		"Access-Control-Request-Method": {"PUT"}, "Authorization": {"", "Bearer none", "Basic eDp5"}, "Baggage": {"a=1"}, "Cf-Ray": {"8a"}, "Connection": {"close"},
		"Content-Encoding": {"gzip", "identity"}, "Content-Type": {"text/plain", "application/json; charset=utf-16", "application/graphql-response+json"},
		"Consistency-Token": {"x", "catalog=9"}, "Cookie": {"a=b"}, "Ep-Channel": {"app"}, "Ep-Context-Tag": {"vip"}, "Ep-Inventories-Multi-Location": {"true"},
		"Expect": {"100-continue"}, "Forwarded": {"for=1.2.3.4"}, "Idempotency-Key": {"x", "\xff", long}, "If-Match": {`"x"`}, "If-Modified-Since": {"Sun, 06 Nov 2094 08:49:37 GMT"},
		"If-None-Match": {"*", `"x"`}, "If-Range": {`"x"`}, "If-Unmodified-Since": {"Sun, 06 Nov 1994 08:49:37 GMT"}, "Origin": {"https://shop.example", "https://other.example", "null"},
		"Prefer": {"graphql", "return=minimal"}, "Range": {"bytes=0-1"}, "Store-Catalog-Release": {"9", "none"}, "Store-Channel": {"app", "\xff"}, "Store-Context-Tag": {"vip"},
		"Te": {"trailers"}, "Traceparent": {"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, "Upgrade": {"websocket", "h2c"}, "X-Amzn-Trace-Id": {"Root=1"},
		"X-Forwarded-For": {"1.2.3.4"}, "X-Forwarded-Host": {"evil.example"}, "X-Forwarded-Proto": {"https"}, "X-Http-Method-Override": {"DELETE"}, "X-Moltin-Currency": {"EUR", "XX", "\xff"},
		"X-Moltin-Language": {"de"}, "X-Original-Url": {"/v2/settings"}, "X-Rewrite-Url": {"/v2/settings"}, "X-Scheme": {"https"}, "Unlisted": {"x"},
	} {
		for _, value := range values {
			hostile = append(hostile, http.Header{name: {value}})
		}
		hostile = append(hostile, http.Header{name: values})
	}
	for _, request := range h.cachedRequests() {
		before := hits()
		for range 4 {
			send(front, request, nil)
		}
		require.Greater(t, hits(), before, request.name)
		for _, headers := range hostile {
			want := send(plain, request, headers)
			for range 4 {
				got := send(front, request, headers)
				require.Equal(t, want.Code, got.Code, "%s with %.80q", request.name, headers)
				require.Equal(t, want.Header(), got.Header(), "%s with %.80q", request.name, headers)
				require.Equal(t, want.Body.String(), got.Body.String(), "%s with %.80q", request.name, headers)
			}
		}
	}
}

// TestHeadersThatNobodyReadsShareResponses requires that headers of proxies do not keep requests from the front cache.
func TestHeadersThatNobodyReadsShareResponses(t *testing.T) {
	t.Parallel()
	h := newDemoServer(t)
	handled := 0
	front := h.front.Middleware(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handled++
		h.handler.ServeHTTP(w, r)
	}))
	for _, request := range h.cachedRequests() {
		handled = 0
		for i := range 5 {
			r := h.request(t.Context(), request)
			r.Header.Set("Cf-Ray", strconv.Itoa(i))
			r.Header.Set("X-Amzn-Trace-Id", "Root="+strconv.Itoa(i))
			r.Header.Set("X-Scheme", "https")
			front.ServeHTTP(httptest.NewRecorder(), r)
		}
		require.LessOrEqual(t, handled, 2, request.name)
	}
}
