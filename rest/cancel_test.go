package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestCanceledRequests requires a 503, no partial response and no write when a request is
// canceled or times out.
func TestCanceledRequests(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		before := exportShop(t, s)
		canceled, cancel := context.WithCancel(t.Context())
		cancel()
		for _, req := range [][3]string{
			{"GET", "/v2/promotions", ""},
			{"GET", "/v2/inventories/anvil", ""},
			{"GET", "/catalog/nodes/tools", ""},
			{"DELETE", "/v2/promotions/ten-off", ""},
			{"POST", "/v2/inventories/new", `{"data":{"quantity":1}}`},
			{"POST", "/graphql", `{"query":"{ promotions { totalCount } }"}`},
			{"POST", "/graphql", `{"query":"{ stocks { nodes { total } } a: promotion(id: \"ten-off\") { name } }"}`},
			{"POST", "/graphql", `{"query":"mutation { promotionDelete(input: {id: \"ten-off\"}) { userErrors { message } } }"}`},
		} {
			r := httptest.NewRequestWithContext(canceled, req[0], req[1], strings.NewReader(req[2]))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.as(admin()).ServeHTTP(w, r)
			if req[1] == "/graphql" {
				require.Contains(t, w.Body.String(), `"code":"UNAVAILABLE"`, "%v returns %d", req, w.Code)
			} else {
				require.Equal(t, http.StatusServiceUnavailable, w.Code, "%v returns %s", req, w.Body)
				requireEnvelope(t, req[1], w)
			}
			require.Contains(t, w.Body.String(), "cancelled or timed out", "%v", req)
			require.Equal(t, "1", w.Header().Get("Retry-After"), "%v", req)
		}
		require.True(t, before == exportShop(t, s), "nothing was written")
	})
}
