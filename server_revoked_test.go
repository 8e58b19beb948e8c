package main

import (
	"net/http/httptest"
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
		answer := func(h *hot, header ...string) int {
			h.token = token.AccessToken
			w := httptest.NewRecorder()
			h.handler.ServeHTTP(w, h.request(t.Context(), hotRequest{method: "GET", path: "/catalog/nodes/node-coffee/relationships/products", header: header}))
			return w.Code
		}
		for range 3 {
			require.Equal(t, 200, answer(writer))
			require.Equal(t, 200, answer(other))
		}
		require.Equal(t, 304, answer(writer, "If-None-Match", "*"))
		_, err = writer.store.RevokeClient(t.Context(), "test", client.ID)
		require.NoError(t, err)
		require.Equal(t, 401, answer(writer))
		require.Equal(t, 401, answer(writer, "If-None-Match", "*"))
		require.Eventually(t, func() bool { return answer(other) == 401 }, 20*time.Second, 10*time.Millisecond)
	})
}
