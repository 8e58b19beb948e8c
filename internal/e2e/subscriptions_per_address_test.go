package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"portico/internal/auth"
	"portico/store/storetest/testkit"
)

// TestSubscriptionsPerAddress requires that one address, or several, cannot use up the
// subscriptions of a client with a public id.
func TestSubscriptionsPerAddress(t *testing.T) {
	t.Parallel()
	o := openDemo(t, "file:"+t.TempDir()+"/shares.db")
	s := o.serve(t, "--trusted-proxy", "127.0.0.1", "--subscriptions-client", "120", "--admin-addr", "127.0.0.1:0")
	client, secret := o.issue(t, "inventory:read", "catalog:read")
	tokens := map[string]map[string]any{"none": {}}
	for _, grant := range []string{auth.GrantImplicit, auth.GrantShopper} {
		issued, err := o.tokens.Issue(t.Context(), auth.Grant{Type: grant, ClientID: client, Scopes: auth.ShopperScopes(), Lifetime: time.Hour})
		require.NoError(t, err)
		tokens[grant] = bearing(issued.AccessToken)
	}
	// begin starts subscriptions from an address until one is refused, at most enough.
	var sockets []*websocket.Conn
	begin := func(greeting map[string]any, from string, enough int) (begun int, refused string) {
		for ; begun < enough; begun++ {
			if begun%50 == 0 {
				sockets = append(sockets, s.open(t, greeting, "X-Forwarded-For", from))
			}
			socket := sockets[len(sockets)-1]
			subscribe(t, socket, fmt.Sprint(begun), espressos)
			if m := hear(t, socket); m.Type == "error" {
				return begun, string(m.Payload)
			}
		}
		return begun, ""
	}
	end := func() {
		for _, socket := range sockets {
			socket.CloseNow()
		}
		sockets = nil
		testkit.Eventually(t, 0, func() float64 { return s.metric(t, "portico_graphql_subscriptions") })
	}
	for _, grant := range []string{auth.GrantImplicit, auth.GrantShopper} {
		token := tokens[grant]
		begun, refused := begin(token, "203.0.113.1", 100)
		require.Equal(t, 12, begun, "a tenth of the client's")
		require.Contains(t, refused, "This address has 12 subscriptions")
		require.Contains(t, refused, "--subscriptions-address")
		require.Contains(t, refused, "RATE_LIMITED")
		begun, _ = begin(token, "2001:db8::1", 100)
		require.Equal(t, 12, begun)
		begun, _ = begin(token, "2001:db8::ffff", 100)
		require.Zero(t, begun, "of the same /64")
		for other := range 8 {
			begun, _ = begin(token, fmt.Sprintf("203.0.113.%d", 100+other), 100)
			require.Equal(t, 12, begun)
		}
		begun, refused = begin(token, "198.51.100.1", 100)
		require.Equal(t, 10, begun, "ten addresses have all of the client's, and another still has some")
		require.Contains(t, refused, "--subscriptions-client")
		response, body := s.send(t, http.MethodPost, "/graphql", `{"query":"{settings{__typename}}"}`, "Content-Type", "application/json",
			"Accept", "text/event-stream",
			"Authorization", token["authorization"].(string), "X-Forwarded-For", "198.51.100.2")
		require.Equal(t, http.StatusOK, response.StatusCode, body)
		end()
	}
	begun, _ := begin(bearing(secret), "203.0.113.1", 130)
	require.Equal(t, 120, begun, "who showed the secret has all")
	end()
}
