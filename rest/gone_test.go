package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/storetest"
)

// Work that is ended, because it took too long, is told to whoever still
// listens: nothing that looks like an answer, and nothing half-written.
func TestWorkThatIsEndedIsTold(t *testing.T) {
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(storetest.NewClock(noon)))
		before := exportShop(t, s)
		ended, end := context.WithCancel(t.Context())
		end()
		for _, asked := range [][3]string{
			{"GET", "/v2/promotions", ""},
			{"GET", "/v2/inventories/anvil", ""},
			{"GET", "/catalog/nodes/tools", ""},
			{"DELETE", "/v2/promotions/ten-off", ""},
			{"POST", "/v2/inventories/new", `{"data":{"quantity":1}}`},
			{"POST", "/graphql", `{"query":"{ promotions { totalCount } }"}`},
			{"POST", "/graphql", `{"query":"{ stocks { nodes { total } } a: promotion(id: \"ten-off\") { name } }"}`},
			{"POST", "/graphql", `{"query":"mutation { promotionDelete(input: {id: \"ten-off\"}) { userErrors { message } } }"}`},
		} {
			r := httptest.NewRequestWithContext(ended, asked[0], asked[1], strings.NewReader(asked[2]))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			s.as(admin()).ServeHTTP(w, r)
			if asked[1] == "/graphql" {
				require.Contains(t, w.Body.String(), `"code":"UNAVAILABLE"`, "%v answers %d", asked, w.Code)
			} else {
				require.Equal(t, http.StatusServiceUnavailable, w.Code, "%v answers %s", asked, w.Body)
				requireEnvelope(t, asked[1], w)
			}
			require.Contains(t, w.Body.String(), "cancelled or timed out", "%v", asked)
			require.Equal(t, "1", w.Header().Get("Retry-After"), "%v", asked)
		}
		require.True(t, before == exportShop(t, s), "nothing was written")
	})
}
