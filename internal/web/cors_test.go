package web_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/internal/web"
)

const shop = "https://shop.example"

// cross sends a request from a page of an origin; asked is the method and
// headers of a preflight.
func cross(allowed []string, method, origin string, asked ...string) *httptest.ResponseRecorder {
	handler := web.CORS(allowed)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
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

func TestCORSOfOrigins(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		allowed     []string
		origin      string
		answer      string // Access-Control-Allow-Origin
		credentials bool
	}{
		{"none by default", nil, shop, "", false},
		{"the one named", []string{shop}, shop, shop, true},
		{"another", []string{shop}, "https://evil.example", "", false},
		{"one of several", []string{"https://a.example", shop}, shop, shop, true},
		{"a pattern", []string{"https://*.example"}, shop, shop, false},
		{"a page of this machine", web.LocalOrigins(), "http://localhost:3000", "http://localhost:3000", false},
		{"a page of this machine, by number", web.LocalOrigins(), "http://127.0.0.1", "http://127.0.0.1", false},
		{"a page that begins alike", web.LocalOrigins(), "http://localhost.evil.example", "", false},
		{"all", []string{"*"}, shop, "*", false},
		{"all beside a name", []string{shop, "*"}, shop, "*", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := cross(test.allowed, "POST", test.origin)
			require.Equal(t, http.StatusTeapot, w.Code, "the request itself is answered")
			require.Equal(t, test.answer, w.Header().Get("Access-Control-Allow-Origin"))
			require.Equal(t, test.credentials, w.Header().Get("Access-Control-Allow-Credentials") == "true")
			if test.answer != "" {
				require.Equal(t, "X-Request-Id, Allow, Content-Language, Etag, Link, Www-Authenticate, Preference-Applied, Store-Catalog-Resolution, Graphql-Request, Idempotent-Replay, X-Ratelimit-Limit, X-Ratelimit-Remaining, X-Ratelimit-Reset, Retry-After", w.Header().Get("Access-Control-Expose-Headers"))
			}
		})
	}
}

func TestCORSPreflight(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS"} {
		w := cross([]string{shop}, "OPTIONS", shop, method)
		require.Equal(t, http.StatusNoContent, w.Code, method)
		require.Equal(t, method, w.Header().Get("Access-Control-Allow-Methods"))
		require.Equal(t, "600", w.Header().Get("Access-Control-Max-Age"))
	}
	require.Empty(t, cross([]string{shop}, "OPTIONS", shop, "PATCH").Header().Get("Access-Control-Allow-Methods"))

	// As a browser lists them: lower case, sorted.
	all := "accept,accept-language,apollo-require-preflight,apollographql-client-name,apollographql-client-version,authorization,cache-control,content-type,ep-account-management-authentication-token,ep-channel,ep-context-tag," +
		"ep-inventories-multi-location,idempotency-key,if-none-match,prefer,store-catalog-release,store-channel,store-context-tag,x-apollo-operation-name,x-moltin-application," +
		"x-moltin-currency,x-moltin-language,x-moltin-sdk-language,x-moltin-sdk-version,x-request-id"
	require.Equal(t, all, cross([]string{shop}, "OPTIONS", shop, "POST", all).Header().Get("Access-Control-Allow-Headers"))
	require.Empty(t, cross([]string{shop}, "OPTIONS", shop, "POST", "x-other").Header().Get("Access-Control-Allow-Headers"))
}

func TestPreflightWithoutOriginsIsLeftToTheRoutes(t *testing.T) {
	t.Parallel()
	require.Equal(t, http.StatusTeapot, cross(nil, "OPTIONS", shop, "POST").Code)
}

func TestCheckOrigin(t *testing.T) {
	t.Parallel()
	for origin, good := range map[string]bool{
		"*": true, shop: true, "http://localhost:3000": true, "https://*.shop.example": true, "capacitor://localhost": true,
		"shop.example": false, shop + "/": false, shop + "/path": false, "": false, "https://": false, "https://u@shop.example": false,
	} {
		require.Equal(t, good, web.CheckOrigin(origin) == nil, "%q", origin)
	}
}
