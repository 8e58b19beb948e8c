package e2e

import (
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

func TestRequestMetricsByRouteAndClient(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	id, secret := newClient(t, flags)
	s := startServer(t, append(flags, "--admin-addr", "127.0.0.1:0")...)
	_, token := s.login(t, id, secret)
	bearer := []string{"Authorization", "Bearer " + token}
	s.send(t, "GET", "/v2/promotions/HIDDEN/codes?filter=eq(code,HIDDEN)", "", bearer...)
	s.send(t, "GET", "/v2/inventories/", "", bearer...)
	s.send(t, "GET", "/catalog//nodes/HIDDEN/relationships/products", "", bearer...)
	s.send(t, "GET", "/v2/HIDDEN", "", "Authorization", "Bearer HIDDEN")
	s.graphql(t, token, `query Settings { a: settings { pageLength } b: settings { pageLength } promotion(id: "HIDDEN") { id } }`)
	s.graphql(t, "HIDDEN", `query HIDDEN { __typename }`) // unauthenticated
	response, body := s.send(t, "GET", "/metrics", "", bearer...)
	require.Equal(t, http.StatusNotFound, response.StatusCode, "metrics on the admin listener only: %s", body)

	s.url = s.admin
	_, text := s.send(t, "GET", "/metrics", "")
	const requests = "portico_http_requests_total{client="
	for _, line := range []string{
		requests + `"` + id + `",method="GET",route="/v2/promotions/{id}/codes",status="4xx",surface="rest"} 1`,
		requests + `"` + id + `",method="GET",route="/v2/inventories",status="2xx",surface="rest"} 1`,
		requests + `"` + id + `",method="GET",route="/catalog/nodes/{id}/relationships/products",status="4xx",surface="rest"} 1`,
		requests + `"none",method="GET",route="unmatched",status="4xx",surface="rest"} 1`,
		requests + `"none",method="POST",route="/oauth/access_token",status="2xx",surface="other"} 1`,
		requests + `"` + id + `",method="POST",route="/graphql",status="2xx",surface="graphql"} 1`,
		`portico_graphql_fields_total{client="` + id + `",field="Query.settings"} 2`,
		`portico_graphql_fields_total{client="` + id + `",field="Query.promotion"} 1`,
		`portico_graphql_operations_total{kind="query",operation="Settings",outcome="ok"} 1`,
		`portico_http_request_duration_seconds_count{method="GET",route="/v2/inventories",surface="rest"} 1`,
	} {
		require.Contains(t, text, line+"\n")
	}
	for _, hidden := range []string{"HIDDEN", secret, token} {
		require.NotContains(t, text, hidden)
	}
	for _, path := range []string{"/healthz", "/readyz"} {
		_, body := s.send(t, "GET", path, "")
		require.Equal(t, `{"status":"ok"}`, strings.TrimSpace(body))
	}
	response, _ = s.send(t, "GET", "/v2/inventories", "", bearer...)
	require.Equal(t, http.StatusNotFound, response.StatusCode, "no other paths")
	require.Zero(t, s.stop())
}

func TestAdminAddrFlag(t *testing.T) {
	t.Parallel()
	flags, _ := database(t)
	s := startServer(t, append(flags, "--admin-addr", "127.0.0.1:0")...)
	at, err := url.Parse(s.admin)
	require.NoError(t, err)
	code, _, stderr := portico(t, append([]string{"serve", "--addr", "127.0.0.1:0", "--admin-addr", at.Host}, flags...)...)
	require.Equal(t, 1, code)
	require.Contains(t, stderr, at.Host)
	for _, args := range [][]string{{"--admin-addr", "nowhere"}, {"--demo", "--admin-addr", "0.0.0.0:0"}} {
		code, _, stderr = portico(t, append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
		require.Equal(t, 2, code, stderr)
	}
	require.Zero(t, s.stop())
}

// TestCacheMetrics requires that the second read of a release is a cache hit.
func TestCacheMetrics(t *testing.T) {
	t.Parallel()
	s := startServer(t, "--demo", "--admin-addr", "127.0.0.1:0", "--response-cache-bytes", "0")
	token := demoToken(t, s)
	kept := func(outcome string) float64 { return s.metric(t, "portico_release_cache_"+outcome) }
	read := func() {
		response, body := s.send(t, "GET", "/catalog/nodes/node-coffee/relationships/products", "", "Authorization", "Bearer "+token)
		require.Equal(t, http.StatusOK, response.StatusCode, body)
	}
	const found, made = `total{outcome="found"}`, `total{outcome="made"}`
	require.Zero(t, kept(found)+kept(made))
	read()
	testkit.Eventually(t, true, func() bool { return kept("bytes") > 0 }) // the cache weighs what it was given a moment later
	foundThen, madeThen := kept(found), kept(made)
	require.Positive(t, madeThen)
	read()
	require.Greater(t, kept(found), foundThen)
	require.Equal(t, madeThen, kept(made), "no second read")
}

// metric returns the value of a metric.
func (s *serverProcess) metric(t testing.TB, name string) (value float64) {
	t.Helper()
	response, err := http.Get(s.admin + "/metrics")
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	_, after, found := strings.Cut(string(text), "\n"+name+" ")
	require.True(t, found, "%s", text)
	line, _, _ := strings.Cut(after, "\n")
	value, err = strconv.ParseFloat(line, 64)
	require.NoError(t, err)
	return value
}
