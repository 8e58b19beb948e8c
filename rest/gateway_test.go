package rest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"portico/store/gateway"
	"portico/store/storetest"
	"portico/store/storetest/testkit"
)

// TestGatewayRoundTrip requires that a client can change one member of a gateway and send all of it
// back. Nothing else changes, the password least of all.
func TestGatewayRoundTrip(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		good := func(method, path, body string, headers ...string) map[string]any {
			t.Helper()
			w := s.send(t, method, path, body, headers...)
			require.Equal(t, http.StatusOK, w.Code, "%s", w.Body)
			var answer struct{ Data map[string]any }
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
			return answer.Data
		}
		const card = "/v2/gateways/card_processor"
		good("PUT", card, `{"data":{"enabled":false,"merchant_id":"m","username":"u","password":"p"}}`)
		before, err := s.store.Gateways.Get(t.Context(), "card_processor")
		require.NoError(t, err)
		for _, path := range []string{card, "/v2/gateways/manual"} {
			object := good("GET", path, "")
			object["enabled"] = true
			text, err := json.Marshal(map[string]any{"data": object})
			require.NoError(t, err)
			require.Equal(t, object, good("PUT", path, string(text), "Idempotency-Key", path))
			require.Equal(t, object, good("GET", path, ""))
			delete(object, "password")
			text, err = json.Marshal(map[string]any{"data": object})
			require.NoError(t, err)
			good("PUT", path, string(text))
		}
		after, err := s.store.Gateways.Get(t.Context(), "card_processor")
		require.NoError(t, err)
		require.Equal(t, []any{before.Fingerprint, "u", true}, []any{after.Fingerprint, after.Login, after.Enabled})

		w := s.send(t, "PUT", card, `{"data":{"password":"`+gateway.SecretMask+`"}}`, "Prefer", "graphql", "Idempotency-Key", "kept")
		require.Contains(t, w.Header().Get("Graphql-Request"), `"password":"`+gateway.SecretMask+`"`,
			"a placeholder would become the password")
		w = s.send(t, "PUT", card, `{"data":{}}`, "Idempotency-Key", "kept")
		require.Equal(t, []any{http.StatusOK, "true"}, []any{w.Code, w.Header().Get("Idempotent-Replay")},
			"the mask is the same as nothing: %s", w.Body)
		a := good("GET", card, "")
		require.Equal(t, gateway.SecretMask, a["password"])

		for _, method := range []string{"GET", "PUT"} {
			w = s.send(t, method, "/v2/gateways/card_connect", `{"data":{"enabled":true}}`)
			require.Equal(t, http.StatusNotFound, w.Code)
			for _, slug := range gateway.Slugs() {
				require.True(t, strings.Contains(w.Body.String(), string(slug)), "%s", w.Body)
			}
		}
	})
}

// TestGatewayErrorsQuoteNoBody requires that errors name only known members. Other text of the body
// may be a password in the wrong place.
func TestGatewayErrorsQuoteNoBody(t *testing.T) {
	t.Parallel()
	storetest.EachBackend(t, func(t *testing.T, e storetest.Backend) {
		s := openShop(t, e, shopFile(), withClock(testkit.NewClock(noon)))
		for body, want := range map[string]string{
			`{"data":{"hunter2":"\ud800"}}`:                   "data contains half",
			`{"data":{"password":"hunter2\ud800"}}`:           "password contains half",
			`{"data":{"password":{"hunter2":"\ud800"}}}`:      "password contains half",
			`{"hunter2":{"data":"\ud800"}}`:                   "contains half",
			"{\"data\":{\"hunter2\":\"\xff\"}}":               "data is not valid UTF-8",
			`{"data":{"slug":"hunter2","enabled":"hunter2"}}`: "enabled must be a boolean",
		} {
			for _, path := range []string{"/v2/gateways/card_processor", "/v2/gateways/hunter2"} {
				w := s.send(t, "PUT", path, body)
				require.Equal(t, http.StatusBadRequest, w.Code, "%s", w.Body)
				require.Contains(t, strings.ToLower(w.Body.String()), strings.ToLower(want), body)
				require.NotContains(t, w.Body.String(), "hunter2", body)
			}
		}
		w := s.send(t, "PUT", "/v2/gateways/hunter2", `{"data":{"enabled":true}}`)
		require.Equal(t, http.StatusNotFound, w.Code)
		require.NotContains(t, w.Body.String(), "hunter2")
	})
}
