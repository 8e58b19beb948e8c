package middleware_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/web/middleware"
)

const ourShop = "https://shop.example"

// cross sends a request from an origin. asked is the method and the headers of a preflight request.
func cross(allowed []string, method, origin string, asked ...string) *httptest.ResponseRecorder {
	handler := middleware.CORS(allowed, slog.New(slog.DiscardHandler))(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	w, r := httptest.NewRecorder(), httptest.NewRequest(method, "/graphql", nil)
	r.Header.Set("Origin", origin)
	if len(asked) > 0 {
		r.Header.Set("Access-Control-Request-Method", asked[0])
	}
	if len(asked) > 1 {
		r.Header.Set("Access-Control-Request-Headers", asked[1])
	}
	handler.ServeHTTP(w, r)
	return w
}

func TestCORSOrigins(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		allowed     []string
		origin      string
		answer      string // Access-Control-Allow-Origin
		credentials bool
	}{
		{"none by default", nil, ourShop, "", false},
		{"the one named", []string{ourShop}, ourShop, ourShop, true},
		{"another", []string{ourShop}, "https://evil.example", "", false},
		{"one of several", []string{"https://a.example", ourShop}, ourShop, ourShop, true},
		{"a pattern", []string{"https://*.example"}, ourShop, ourShop, false},
		{"a page of this machine", middleware.LocalOrigins(), "http://localhost:3000", "http://localhost:3000", false},
		{"a page of this machine, by number", middleware.LocalOrigins(), "http://127.0.0.1", "http://127.0.0.1", false},
		{"a page that begins alike", middleware.LocalOrigins(), "http://localhost.evil.example", "", false},
		{"all", []string{"*"}, ourShop, "*", false},
		{"all beside a name", []string{ourShop, "*"}, ourShop, "*", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := cross(test.allowed, "POST", test.origin)
			require.Equal(t, http.StatusTeapot, w.Code, "the request itself is answered")
			require.Equal(t, test.answer, w.Header().Get("Access-Control-Allow-Origin"))
			require.Equal(t, test.credentials, w.Header().Get("Access-Control-Allow-Credentials") == "true")
			if test.answer != "" {
				require.Equal(t, "X-Request-Id, Allow, Content-Language, Etag, Link, Www-Authenticate, Preference-Applied, Store-Catalog-Resolution, Graphql-Request, Idempotent-Replay, Consistency-Token, X-Ratelimit-Limit, X-Ratelimit-Remaining, X-Ratelimit-Reset, Retry-After", w.Header().Get("Access-Control-Expose-Headers"))
			}
		})
	}
}

func TestCORSPreflight(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"} {
		w := cross([]string{ourShop}, "OPTIONS", ourShop, method)
		require.Equal(t, http.StatusNoContent, w.Code, method)
		require.Equal(t, method, w.Header().Get("Access-Control-Allow-Methods"))
		require.Equal(t, "600", w.Header().Get("Access-Control-Max-Age"))
	}
	require.Empty(t, cross([]string{ourShop}, "OPTIONS", ourShop, "PATCH").Header().Get("Access-Control-Allow-Methods"))

	// Lower case and sorted, as browsers send them.
	all := "accept,accept-language,apollo-require-preflight,apollographql-client-name,apollographql-client-version,authorization,cache-control,content-type,ep-account-management-authentication-token,ep-channel,ep-context-tag," +
		"ep-inventories-multi-location,idempotency-key,if-none-match,prefer,store-catalog-release,store-channel,store-context-tag,x-apollo-operation-name,x-moltin-application," +
		"x-moltin-currency,x-moltin-language,x-moltin-sdk-language,x-moltin-sdk-version,x-request-id"
	require.Equal(t, all, cross([]string{ourShop}, "OPTIONS", ourShop, "POST", all).Header().Get("Access-Control-Allow-Headers"))
	require.Empty(t, cross([]string{ourShop}, "OPTIONS", ourShop, "POST", "x-other").Header().Get("Access-Control-Allow-Headers"))
}

func TestPreflightWithoutOrigins(t *testing.T) {
	t.Parallel()
	require.Equal(t, http.StatusTeapot, cross(nil, "OPTIONS", ourShop, "POST").Code)
}

func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for origin, good := range map[string]bool{
		"*": true, ourShop: true, "http://localhost:3000": true, "https://*.shop.example": true, "capacitor://localhost": true,
		"shop.example": false, ourShop + "/": false, ourShop + "/path": false, "": false, "https://": false, "https://u@shop.example": false,
	} {
		require.Equal(t, good, middleware.CheckOrigin(origin) == nil, "%q", origin)
	}
}

// TestCORSAllowsClientHeaders requires that a preflight allows all headers of the documented
// clients.
func TestCORSAllowsClientHeaders(t *testing.T) {
	t.Parallel()
	handler := middleware.CORS([]string{"https://shop.example"}, slog.New(slog.DiscardHandler))(http.NotFoundHandler())
	for _, name := range []string{
		"authorization", "content-type", "accept", "accept-language", "cache-control", "if-none-match", "prefer", "idempotency-key",
		"x-request-id",
		"store-channel", "store-context-tag", "store-catalog-release", "ep-channel", "ep-context-tag", "ep-beta-features",
		"ep-account-management-authentication-token", "ep-inventories-multi-location",
		"x-moltin-sdk-language", "x-moltin-sdk-version", "x-moltin-application", "x-moltin-currency", "x-moltin-language",
		"x-moltin-customer-token", "x-moltin-auth-store", "traceparent", "tracestate", "baggage", "sentry-trace",
	} {
		r := httptest.NewRequest(http.MethodOptions, "/v2/inventories", nil)
		r.Header.Set("Origin", "https://shop.example")
		r.Header.Set("Access-Control-Request-Method", "GET")
		r.Header.Set("Access-Control-Request-Headers", name)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		require.Equal(t, name, w.Header().Get("Access-Control-Allow-Headers"), name)
	}
}

// TestRefusedOriginsAreLogged requires one log entry an hour for each refused origin, with the flag that allows it, and few
// of them however many a client invents.
func TestRefusedOriginsAreLogged(t *testing.T) {
	t.Parallel()
	for _, allowed := range [][]string{nil, {ourShop}} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			handler := middleware.CORS(allowed, slog.New(slog.NewTextHandler(&log, nil)))(http.NotFoundHandler())
			send := func(method, origin string) string {
				log.Reset()
				r := httptest.NewRequest(method, "https://api.example/graphql", nil)
				if origin != "" {
					r.Header.Set("Origin", origin)
					r.Header.Set("Access-Control-Request-Method", "POST")
				}
				handler.ServeHTTP(httptest.NewRecorder(), r)
				return log.String()
			}
			for _, silent := range []string{"", "null", "https://api.example", "https://API.example", "x", "https://*.example"} {
				require.Empty(t, send(http.MethodPost, silent), silent)
			}
			if allowed != nil {
				require.Empty(t, send(http.MethodPost, ourShop))
			}
			require.Contains(t, send(http.MethodOptions, "https://other.example"), "--cors-origin https://other.example")
			require.Empty(t, send(http.MethodPost, "https://other.example"), "within the hour")
			require.Contains(t, send(http.MethodPost, "https://third.example"), "--cors-origin https://third.example")
			time.Sleep(time.Hour)
			require.Contains(t, send(http.MethodPost, "https://other.example"), "--cors-origin https://other.example", "an hour later")
			logged := 0
			for i := range 1000 {
				logged += strings.Count(send(http.MethodPost, fmt.Sprintf("https://%d.example", i)), "level=WARN")
			}
			require.Equal(t, 19, logged)
		})
	}
}
