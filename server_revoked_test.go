package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/internal/demo"
	"portico/store/storetest"
)

// TestARevokedTokenIsAnsweredNothingThatIsKept: at once where the client was
// revoked, and soon by a server beside it, however often both have answered.
func TestARevokedTokenIsAnsweredNothingThatIsKept(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, e storetest.Engine) {
		writer := beside(t, e.URL(t))
		require.NoError(t, demo.Fill(t.Context(), writer.store))
		client, _, err := writer.store.CreateClient(t.Context(), "test", "test", []string{"catalog:read"})
		require.NoError(t, err)
		token, err := writer.tokens.Issue(t.Context(), auth.Grant{Type: auth.GrantClientCredentials, ClientID: client.ID, Scopes: client.Scopes, Lifetime: time.Hour})
		require.NoError(t, err)
		other := beside(t, e.URL(t))
		surfaces := []string{"/catalog/nodes/node-coffee/relationships/products", "/graphql?query=%7Bproducts%7BtotalCount%7D%7D"}
		answer := func(h *hot, header ...string) (codes [2]int) {
			h.token = token.AccessToken
			for i, path := range surfaces {
				w := httptest.NewRecorder()
				h.handler.ServeHTTP(w, h.request(t.Context(), hotRequest{method: "GET", path: path, header: header}))
				if codes[i] = w.Code; strings.Contains(w.Body.String(), `"data":{"products":null}`) && strings.Contains(w.Body.String(), `"UNAUTHENTICATED"`) {
					codes[i] = http.StatusUnauthorized // as GraphQL says it
				}
			}
			return codes
		}
		for range 3 {
			require.Equal(t, [2]int{200, 200}, answer(writer))
			require.Equal(t, [2]int{200, 200}, answer(other))
		}
		require.Equal(t, [2]int{304, 304}, answer(writer, "If-None-Match", "*"))
		_, err = writer.store.RevokeClient(t.Context(), "test", client.ID)
		require.NoError(t, err)
		require.Equal(t, [2]int{401, 401}, answer(writer))
		require.Equal(t, [2]int{401, 401}, answer(writer, "If-None-Match", "*"))
		storetest.Soon(t, [2]int{401, 401}, func() [2]int { return answer(other) })
	})
}
