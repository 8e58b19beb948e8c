package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTokenRateLimit(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	id, secret := newClient(t, flags)
	other, otherSecret := newClient(t, flags)
	s := startServer(t, append(flags, "--token-rate-client", "3", "--token-rate-address", "8", "--trusted-proxy", "10.0.0.0/8")...)
	for range 2 {
		status, _ := s.login(t, id, "wrong")
		require.Equal(t, 401, status)
	}
	status, _ := s.login(t, id, secret)
	require.Equal(t, 200, status)
	response, body := s.send(t, "POST", "/oauth/access_token",
		"grant_type=client_credentials&client_id="+strings.ToUpper(id)+"&client_secret="+secret)
	require.Equal(t, 429, response.StatusCode)
	after, err := strconv.Atoi(response.Header.Get("Retry-After"))
	require.NoError(t, err)
	require.True(t, 1 <= after && after <= 20, "three per minute means one every 20 s, not after %d", after)
	require.JSONEq(t, fmt.Sprintf(`{"errors":[{"status":429,"title":"Too Many Requests","detail":"Rate limit for token requests exceeded by this client: at most 3 per minute. Retry in %d seconds.","code":"RATE_LIMITED"}]}`, after), body)

	for range 3 {
		status, _ = s.login(t, other, otherSecret, "X-Forwarded-For", "203.0.113.1")
		require.Equal(t, 200, status, "other clients are not affected")
	}
	status, _ = s.login(t, "nobody", "x", "X-Forwarded-For", "203.0.113.2")
	require.Equal(t, 401, status)
	response, body = s.send(t, "POST", "/oauth/access_token", "grant_type=implicit&client_id="+other, "X-Forwarded-For", "203.0.113.3")
	require.Equal(t, 429, response.StatusCode, "X-Forwarded-For counts from trusted proxies only")
	require.Contains(t, body, "by this address")
}

func TestTrustedProxyFlag(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	id, _ := newClient(t, flags)
	s := startServer(t, append(flags, "--token-rate-address", "2", "--trusted-proxy", "127.0.0.0/8")...)
	ask := func(from string) int {
		response, _ := s.send(t, "POST", "/oauth/access_token", "grant_type=implicit&client_id="+id, "X-Forwarded-For", from)
		return response.StatusCode
	}
	require.Equal(t, []int{200, 200, 429, 200}, []int{ask("203.0.113.1"), ask("203.0.113.1"), ask("9.9.9.9, 203.0.113.1"), ask("203.0.113.2")})
}

func TestCodeRateLimit(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	id, secret := newClient(t, flags)
	s := startServer(t, append(flags, "--code-rate-client", "2")...)
	_, token := s.login(t, id, secret)
	var aliases strings.Builder
	for i := range 500 {
		fmt.Fprintf(&aliases, `c%d: promotionCodeCheck(code: "GUESS-%d") { valid } `, i, i)
	}
	response, body := s.graphql(t, token, "{ "+aliases.String()+" }")
	require.Equal(t, 200, response.StatusCode, "within the limit")
	require.NotEmpty(t, response.Header.Get("Retry-After"))
	require.Contains(t, body, `"code":"RATE_LIMITED"`)
	require.Equal(t, 2, strings.Count(body, `"valid"`))
	require.Equal(t, 498, strings.Count(body, `":null`))
	require.Contains(t, body, "Rate limit for promotion code lookups exceeded by this client: at most 2 per minute")
	response, _ = s.graphql(t, token, `mutation { promotionCodeRedeem(input: {code: "A", reference: "r"}) { unitsApplied } }`)
	require.Equal(t, 429, response.StatusCode, "the document used up the limit")
	response, body = s.graphql(t, token, `{ settings { pageLength } }`)
	require.Equal(t, 200, response.StatusCode, body)
	require.Empty(t, response.Header.Get("Retry-After"))
}

func TestDemoHasNoRateLimitsByDefault(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo")
	for range 130 {
		status, _ := s.login(t, "nobody", "x")
		require.Equal(t, 401, status)
	}
	s = startServer(t, "--demo", "--token-rate-address", "1")
	s.login(t, "nobody", "x")
	status, _ := s.login(t, "nobody", "x")
	require.Equal(t, 429, status)
}

// TestCORSOnBothAPIs requires that pages of an allowed origin can read all responses, including
// errors.
func TestCORSOnBothAPIs(t *testing.T) {
	t.Parallel()
	const shop = "https://shop.example"
	flags, _ := database(t)
	s := startServer(t, append(flags, "--cors-origin", shop, "--token-rate-address", "1")...)
	s.login(t, "nobody", "x")
	for _, test := range []struct {
		method, path, body, kind string
		status                   int
	}{
		{"GET", "/v2/inventories", "", "", 401},
		{"GET", "/catalog/nodes/x/relationships/products", "", "", 401},
		{"GET", "/v2/nowhere", "", "", 404},
		{"DELETE", "/v2/inventories", "", "", 405},
		{"POST", "/oauth/access_token", "grant_type=implicit", "", 429},
		{"PUT", "/graphql", "{}", "application/json", 405},
		{"POST", "/graphql", "query={__typename}", "application/x-www-form-urlencoded", 415},
		{"POST", "/graphql", `{"query":"{ __typename }"}`, "text/plain", 415},
		{"GET", "/graphql?query=mutation%7B__typename%7D", "", "", 405},
		{"POST", "/graphql", `{"query":"{ __typename }"}`, "application/json", 200},
	} {
		response, body := s.send(t, test.method, test.path, test.body, "Origin", shop, "Content-Type", test.kind)
		require.Equal(t, test.status, response.StatusCode, "%s %s: %s", test.method, test.path, body)
		require.Equal(t, shop, response.Header.Get("Access-Control-Allow-Origin"), test.path)
		require.Contains(t, body, map[bool]string{true: `"data"`, false: `"errors"`}[test.status == 200])
		exposed := strings.ToLower(response.Header.Get("Access-Control-Expose-Headers"))
		for name, must := range map[string]bool{"X-Request-Id": true, "WWW-Authenticate": test.status == 401, "Allow": test.status == 405,
			"Retry-After": test.status == 429} {
			require.Contains(t, exposed, strings.ToLower(name))
			require.Equal(t, must, response.Header.Get(name) != "", "%s of %s %s", name, test.method, test.path)
		}
	}
	response, body := s.send(t, "OPTIONS", "/graphql", "", "Origin", shop, "Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization")
	require.Equal(t, 204, response.StatusCode, body)
	require.Equal(t, []string{shop, "POST", "authorization"}, []string{response.Header.Get("Access-Control-Allow-Origin"), response.Header.Get("Access-Control-Allow-Methods"), response.Header.Get("Access-Control-Allow-Headers")})
}

func TestDefaultCORSOrigins(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	allowed := func(s *serverProcess, origin string) http.Header {
		response, _ := s.send(t, "GET", "/healthz", "", "Origin", origin)
		return response.Header
	}
	s := startServer(t, flags...)
	require.Empty(t, allowed(s, "http://localhost:3000").Get("Access-Control-Allow-Origin"), "none")
	s = startServer(t, "--demo")
	header := allowed(s, "http://localhost:3000")
	require.Equal(t, "http://localhost:3000", header.Get("Access-Control-Allow-Origin"), "the demo allows local pages")
	require.Empty(t, header.Get("Access-Control-Allow-Credentials"))
	require.Empty(t, allowed(s, "https://shop.example").Get("Access-Control-Allow-Origin"))
	s = startServer(t, "--demo", "--cors-origin", "https://shop.example")
	require.Equal(t, "https://shop.example", allowed(s, "https://shop.example").Get("Access-Control-Allow-Origin"))
	require.Empty(t, allowed(s, "http://localhost:3000").Get("Access-Control-Allow-Origin"))
}
