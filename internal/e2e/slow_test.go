package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// TestSlowRequestsAreLogged requires the database work of a read, a write and a GraphQL operation
// in the log, without values.
func TestSlowRequestsAreLogged(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		writer := openDemo(t, e.URL(t))
		_, token := writer.issue(t, "catalog:read", "settings:write", "settings:read", "promotions:read")
		bearer := []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
		s := writer.serve(t, "--slow", "1ns")
		s.send(t, "GET", "/v2/promotions/HIDDEN/codes?filter=eq(code,HIDDEN)", "", bearer...)
		s.send(t, "PUT", "/v2/settings", `{"data":{"type":"settings","page_length":31}}`, bearer...)
		s.graphql(t, token, `query Vouchers { promotion(id: "HIDDEN") { id } node(id: "HIDDEN") { id } promotions(first: 1) { totalCount } }`)
		s.send(t, "GET", "/healthz", "")
		require.Zero(t, s.stop())
		line := func(route string) map[string]any {
			at := slices.IndexFunc(s.log, func(line map[string]any) bool { return line["msg"] == "slow request" && line["route"] == route })
			require.GreaterOrEqual(t, at, 0, "%s in %v", route, s.log)
			return s.log[at]
		}
		read, write, operation, none := line("/v2/promotions/{id}/codes"), line("/v2/settings"), line("/graphql"), line("/healthz")
		for _, asked := range []map[string]any{read, write} {
			require.Positive(t, asked["statements"])
			require.Positive(t, asked["database_ms"])
			require.Greater(t, asked["duration_ms"], 0.0)
		}
		require.Equal(t, 0.0, none["statements"])
		require.Equal(t, "Vouchers", operation["operation"])
		require.Positive(t, operation["statements"])
		require.NotEmpty(t, operation["request_id"])
		for _, line := range s.log {
			if line["msg"] == "slow request" {
				require.NotContains(t, fmt.Sprint(line), "HIDDEN")
			}
		}
	})
}
