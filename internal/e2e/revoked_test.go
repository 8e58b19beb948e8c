package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestRevokedTokenGetsNoCachedResponse requires that all servers soon reject a revoked token, even
// for cached responses.
func TestRevokedTokenGetsNoCachedResponse(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		e.FullTestsOnlyOnPostgres(t)
		o := openDemo(t, e.URL(t))
		client, token := o.issue(t, "catalog:read")
		surfaces := []string{"/catalog/nodes/node-coffee/relationships/products", "/graphql?query=%7Bproducts%7BtotalCount%7D%7D"}
		answer := func(s *serverProcess, headers ...string) (codes [2]int) {
			for i, path := range surfaces {
				response, body := s.send(t, "GET", path, "", append(headers, "Authorization", "Bearer "+token)...)
				if codes[i] = response.StatusCode; strings.Contains(body, `"data":{"products":null}`) && strings.Contains(body, `"UNAUTHENTICATED"`) {
					codes[i] = http.StatusUnauthorized // GraphQL has the code in the body
				}
			}
			return codes
		}
		servers := []*serverProcess{o.serve(t), o.serve(t)}
		for range 3 {
			for _, s := range servers {
				require.Equal(t, [2]int{200, 200}, answer(s))
				require.Equal(t, [2]int{304, 304}, answer(s, "If-None-Match", "*"))
			}
		}
		_, err := o.Access.RevokeClient(t.Context(), "test", client)
		require.NoError(t, err)
		for _, s := range servers {
			testkit.Eventually(t, [2]int{401, 401}, func() [2]int { return answer(s) })
			require.Equal(t, [2]int{401, 401}, answer(s, "If-None-Match", "*"))
		}
	})
}
