package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest/testkit"
)

// attackTarget is a server under attack. After each attack it must serve correctly, and at the end
// it must have released memory and goroutines.
type attackTarget struct {
	*serverProcess
	token            string // with all scopes
	goroutines, heap float64
}

// Tolerated growth after an attack: closing connections and caches.
const (
	goroutinesLeft = 30
	bytesLeft      = 48 << 20
)

func startAttackTarget(t *testing.T, flags ...string) *attackTarget {
	t.Helper()
	o := openDemo(t, "file:"+filepath.Join(t.TempDir(), "portico.db"))
	_, token := o.issue(t)
	a := &attackTarget{token: token}
	a.serverProcess = o.serve(t, append([]string{"--admin-addr", "127.0.0.1:0", "--response-cache-bytes", "4000000", "--release-cache-bytes",
		"4000000"}, flags...)...)
	for range 20 {
		a.requireServing(t)
	}
	a.goroutines, a.heap = a.usage(t)
	return a
}

// usage returns the number of goroutines and the live heap in bytes.
func (a *attackTarget) usage(t *testing.T) (goroutines, heap float64) {
	t.Helper()
	http.DefaultClient.CloseIdleConnections()
	collected, err := http.Get(a.admin + "/debug/pprof/heap?gc=1")
	require.NoError(t, err)
	require.NoError(t, collected.Body.Close())
	return a.metric(t, "go_goroutines"), a.metric(t, "go_memstats_heap_alloc_bytes")
}

// requireServing requires correct responses from both APIs.
func (a *attackTarget) requireServing(t *testing.T) {
	t.Helper()
	response, body := a.graphql(t, a.token, `{ product(by: {sku: "COF-AME"}) { sku stock { available } } }`)
	require.Equal(t, 200, response.StatusCode, body)
	require.JSONEq(t, `{"data":{"product":{"sku":"COF-AME","stock":{"available":400}}}}`, body)
	response, body = a.send(t, "GET", "/v2/inventories/prod-americano", "", "Authorization", "Bearer "+a.token)
	require.Equal(t, 200, response.StatusCode, body)
	require.Contains(t, body, `"available":400`)
}

// requireRecovered waits until goroutines and heap are back to normal, and requires a log without
// errors and panics.
func (a *attackTarget) requireRecovered(t *testing.T) {
	t.Helper()
	a.requireServing(t)
	testkit.Eventually(t, "", func() string {
		goroutines, heap := a.usage(t)
		if goroutines > a.goroutines+goroutinesLeft || heap > a.heap+bytesLeft {
			return fmt.Sprintf("%.0f goroutines, %.0f before; %.0f MiB, %.0f before", goroutines, a.goroutines, heap/(1<<20), a.heap/(1<<20))
		}
		return ""
	}, "goroutines and heap are back to normal")
	require.Zero(t, a.stop())
	for _, line := range a.log {
		require.NotEqual(t, "ERROR", line["level"], "%v", line)
		require.NotContains(t, line["msg"], "panic", "%v", line)
	}
}

// requireDocumentedShape requires data, or errors other than internal ones, in the shape of the
// API.
func requireDocumentedShape(t testing.TB, what, path string, response *http.Response, body string) {
	t.Helper()
	status := response.StatusCode
	require.Less(t, status, 500, "%s: %.300s", what, body)
	for name, values := range response.Header {
		require.NotContains(t, strings.ToLower(name), "injected", what)
		for _, value := range values {
			require.NotContains(t, value, "\n", "%s: %s", what, name)
		}
	}
	if status == http.StatusNoContent {
		return
	}
	require.Contains(t, response.Header.Get("Content-Type"), "json", "%s: %d %.300s", what, status, body)
	var answer struct {
		Data   json.RawMessage
		Errors []struct {
			Status     any
			Title      string
			Detail     string
			Message    string
			Extensions struct{ Code string }
		}
		Token string `json:"access_token"`
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer), "%s: %.300s", what, body)
	if status < 300 && len(answer.Errors) == 0 {
		require.True(t, answer.Data != nil || answer.Token != "", "%s: %.300s", what, body)
		return
	}
	require.NotEmpty(t, answer.Errors, "%s: %d %.300s", what, status, body)
	for _, e := range answer.Errors {
		if strings.HasPrefix(path, "/graphql") {
			require.NotEmpty(t, e.Message, what)
			require.NotContains(t, []string{"", "INTERNAL"}, e.Extensions.Code, "%s: %.300s", what, body)
			continue
		}
		require.Equal(t, fmt.Sprint(status), fmt.Sprint(e.Status), what)
		require.NotEmpty(t, e.Title, what)
		require.NotEmpty(t, e.Detail, what)
	}
}
